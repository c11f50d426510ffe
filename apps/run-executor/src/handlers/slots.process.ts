import { Mailbox, RetryLater } from '@runyard/event-log';
import type { OperationsQueries } from '../projections/operations.queries';
import type { RunLog } from './run-log.adapter';

export type Claim =
  | { outcome: 'claimed'; previousRunId: string | null }
  | { outcome: 'known'; digest: string | null }
  | { outcome: 'held'; slotKey: string; holder: string };

/** A holder without a log is a request that is being taken in right now; it is looked at again after this long. */
const HOLDER_UNBORN_MS = 250;

/**
 * The one active place of an agent or a conversation (P2.3). The row says who holds it; whether the holder still needs
 * it, its log says. A slot is freed only after its holder's terminal event.
 */
export class Slots {
  /** Runs that compete for nothing hold no row; those of an org that arrive together ask for their keys together. */
  private readonly keys = new Mailbox<string, string | null | undefined>(async (org, runIds) => {
    const used = await this.operations.usedKeys(org, runIds);
    return runIds.map((runId) => ({ value: used.get(runId) }));
  });

  constructor(
    private readonly operations: OperationsQueries,
    private readonly runs: RunLog,
  ) {}

  async claim(
    org: string,
    runId: string,
    digest: string,
    slots: { agent: string | null; conversation: string | null },
  ): Promise<Claim> {
    if (slots.agent === null && slots.conversation === null) {
      const used = await this.keys.submit(org, runId);
      return used === undefined
        ? { outcome: 'claimed', previousRunId: null }
        : { outcome: 'known', digest: used };
    }
    for (;;) {
      const claim = await this.operations.claimSlot({
        org,
        runId,
        digest,
        agentSlot: slots.agent,
        conversationSlot: slots.conversation,
      });
      if (claim.outcome !== 'held') return claim;
      if (await this.holds(org, claim.slotKey, claim.holder, runId)) return claim;
    }
  }

  /** Whether a holder is unfinished; a slot of one that has ended is taken from it, exactly that row. */
  private async holds(org: string, slotKey: string, holder: string, runId: string): Promise<boolean> {
    const { run, sequence } = await this.runs.glance(org, holder);
    if (sequence === 0) {
      // An empty log is one that has not begun, or one that was erased after its end.
      if (!(await this.runs.erased(org, holder)))
        throw new RetryLater(HOLDER_UNBORN_MS, `run ${holder} is being taken in`);
      await this.takeOver(slotKey, holder, runId);
      return false;
    }
    if (run.situation !== 'ended') return true;
    // A holder that was skipped or fenced after it had claimed is no turn; named as the last one, it would hide those before it.
    if (slotKey.startsWith('conversation:') && run.definition === null)
      await this.operations.giveBack(org, holder);
    else await this.takeOver(slotKey, holder, runId);
    return false;
  }

  /** A conversation remembers whom it goes on after. */
  private async takeOver(slotKey: string, holder: string, runId: string): Promise<void> {
    if (slotKey.startsWith('conversation:')) await this.operations.replaceHolder(slotKey, holder, runId);
    else await this.operations.freeSlot(slotKey, holder);
  }
}
