import type { Tx } from '@runyard/persistence';

export interface SlotRequest {
  org: string;
  runId: string;
  digest: string;
  /** `agent:<org>:<agent id>`; null where the run does not compete for its agent. */
  agentSlot: string | null;
  /** `conversation:<org>:<conversation id>`; null outside of conversations. */
  conversationSlot: string | null;
}

export type SlotClaim =
  /** All slots are this run's, also where an earlier delivery of the same request claimed them. */
  | { outcome: 'claimed'; previousRunId: string | null }
  /** The key was used before (P2.8). `digest` null: it was fenced before it became a run. */
  | { outcome: 'known'; digest: string | null; ended: boolean }
  /** Another run stands in the slot; whether it still needs it, its log says. Nothing was claimed. */
  | { outcome: 'held'; slotKey: string; holder: string };

interface ClaimRow {
  outcome: SlotClaim['outcome'];
  slot_key: string | null;
  holder: string | null;
  previous_run_id: string | null;
  digest: string | null;
  ended: boolean | null;
}

const CLAIM = 'SELECT * FROM claim_slot($1, $2, $3, $4, $5)';

/** Claims all slots of a run or none. Saying it again for the same run changes nothing. */
export async function claimSlots(
  tx: Tx,
  { org, runId, digest, agentSlot, conversationSlot }: SlotRequest,
): Promise<SlotClaim> {
  const [row] = await tx.query<ClaimRow>(CLAIM, [org, runId, digest, agentSlot, conversationSlot]);
  if (row?.outcome === 'known') return { outcome: 'known', digest: row.digest, ended: row.ended ?? false };
  if (row?.outcome === 'held')
    return { outcome: 'held', slotKey: row.slot_key ?? '', holder: row.holder ?? '' };
  return { outcome: 'claimed', previousRunId: row?.previous_run_id ?? null };
}

const USED = 'SELECT run_id, digest FROM run_keys WHERE run_id = ANY($1)';

/** Digests of the requests that these run ids were used for; null where an id was fenced before it became a run. */
export async function usedKeys(tx: Tx, runIds: readonly string[]): Promise<Map<string, string | null>> {
  const rows = await tx.query<{ run_id: string; digest: string | null }>(USED, [[...runIds]]);
  return new Map(rows.map(({ run_id, digest }) => [run_id, digest]));
}

/** More deliveries of one request do not meet at one moment. */
const RACES = 8;

/**
 * Deliveries of one request at the very same moment can meet at the index of runs before that of slots, and all but one of
 * them are refused. The next time each finds the winner's row, which is this run's, unless it was given back meanwhile.
 */
export async function againIfRaced<T>(claim: () => Promise<T>, left = RACES): Promise<T> {
  try {
    return await claim();
  } catch (error) {
    const raced = error instanceof Error && 'code' in error && error.code === '23505';
    if (!raced || left === 0) throw error;
    return againIfRaced(claim, left - 1);
  }
}

export async function holderOf(tx: Tx, slotKey: string): Promise<string | null> {
  const [row] = await tx.query<{ run_id: string }>('SELECT run_id FROM run_slots WHERE slot_key = $1', [
    slotKey,
  ]);
  return row?.run_id ?? null;
}
