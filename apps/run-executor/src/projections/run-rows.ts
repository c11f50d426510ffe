import type { Json } from '@runyard/contracts';
import { restoreJson, restoreText, toSafeInteger } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';
import type { ReadCommit } from './commits';
import { conversationKey } from './conversation-changes';
import { erasuresIn } from './erasures';
import type { Found } from './run-batch';
import { FRESH_PROGRESS } from './run-image';
import type { MovingColumns, OpenTurn, RunImage } from './run-image';
import { LOAD_RUNS, LOAD_TOMBSTONES } from './run-statements';

type Counts = 'grant_tokens' | 'input_tokens' | 'output_tokens' | 'cached_tokens' | 'sequence';

interface LoadedRun
  extends
    Omit<MovingColumns, Counts | 'org_id' | 'output' | 'output_digest' | 'error'>,
    Record<Counts, bigint> {
  run_id: string;
  deleted: boolean;
  org_id: string | null;
  conversation_id: string | null;
  agent_id: string;
  next_seq: number | null;
  next_place: number | null;
  entry_bytes: bigint | null;
  turn: OpenTurn | null;
}

/** Without a conversation: the org itself was erased. */
interface Tombstone {
  org_id: string;
  conversation_id: string | null;
  sequence: bigint | null;
}

/** What the database holds of a batch's runs and conversations. */
export async function findRows(tx: Tx, commits: readonly ReadCommit[]): Promise<Found> {
  const runs = new Set<string>();
  const conversations = new Set<string>();
  const orgs = new Set<string>();
  for (const { context, org, id, events } of commits) {
    orgs.add(org);
    if (context === 'runs') runs.add(id);
    if (context === 'conversations') conversations.add(id);
    for (const { runId, conversation } of erasuresIn({ context, events })) {
      runs.add(runId);
      if (conversation) conversations.add(conversation.conversationId);
    }
  }
  const [loaded, tombstones] = await Promise.all([
    tx.query<LoadedRun>(LOAD_RUNS, [[...runs]]),
    tx.query<Tombstone>(LOAD_TOMBSTONES, [[...orgs], [...conversations]]),
  ]);
  return {
    runs: loaded.flatMap((row) => (row.org_id === null ? [] : [imageOf(row, row.org_id)])),
    deletedRuns: new Set(loaded.flatMap((row) => (row.deleted ? [row.run_id] : []))),
    erasedOrgs: new Set(tombstones.flatMap((row) => (row.conversation_id === null ? [row.org_id] : []))),
    deletedConversations: new Map(
      tombstones.flatMap(({ org_id, conversation_id, sequence }) =>
        conversation_id === null
          ? []
          : [[conversationKey(org_id, conversation_id), toSafeInteger(sequence ?? 0)]],
      ),
    ),
  };
}

function imageOf(row: LoadedRun, org: string): RunImage {
  return {
    run_id: row.run_id,
    org_id: org,
    birth: null,
    parent_is_new: false,
    conversation_id: row.conversation_id,
    agent_id: row.agent_id,
    request_digest: null,
    row: movingOf(row, org),
    progress:
      row.next_seq === null
        ? { ...FRESH_PROGRESS }
        : {
            next_seq: row.next_seq,
            next_place: row.next_place ?? 0,
            entry_bytes: toSafeInteger(row.entry_bytes ?? 0),
            turn: restoreJson(row.turn as Json) as OpenTurn | null,
          },
    steps: [],
    entries: [],
    driver: undefined,
    touched: false,
  };
}

/** Output and error are null until the event that ends the run, which this batch may hold. */
const movingOf = (row: LoadedRun, org: string): MovingColumns => ({
  run_id: row.run_id,
  org_id: org,
  mode: row.mode,
  bounds: row.bounds,
  grant_tokens: toSafeInteger(row.grant_tokens),
  state: row.state,
  termination: row.termination,
  reason: row.reason === null ? null : restoreText(row.reason),
  model: restoreText(row.model),
  started_at: row.started_at,
  ended_at: row.ended_at,
  heartbeat_at: row.heartbeat_at,
  output: null,
  output_digest: null,
  error: null,
  input_tokens: toSafeInteger(row.input_tokens),
  output_tokens: toSafeInteger(row.output_tokens),
  cached_tokens: toSafeInteger(row.cached_tokens),
  model_calls: row.model_calls,
  tool_calls: row.tool_calls,
  steps: row.steps,
  cancel_requested: row.cancel_requested,
  cancel_requested_at: row.cancel_requested_at,
  pause_requested: row.pause_requested,
  pause_expires_at: row.pause_expires_at,
  sequence: toSafeInteger(row.sequence),
  position: row.position,
});
