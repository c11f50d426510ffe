import type { DomainEvent } from '../envelope';
import type { RunState } from './run.states';

// Context `erasures`, on the stream of the runs: one aggregate an org. What remains of a run whose log was overwritten, so
// that a rebuild comes to the same rows without it (P9.1). Ids and counts, never content.

/** Id of the aggregate: one log of erasures an org. */
export const ERASED_RUNS = 'runs';

/** An ended run was erased: nothing of its content can be read any more, and its own log is empty. */
export type RunErased = DomainEvent<
  'RunErased',
  {
    runId: string;
    agentId: string;
    state: RunState;
    endedAt: number | null;
    inputTokens: number;
    outputTokens: number;
    cachedTokens: number;
    /** Digest of its request: the key stays used (P2.8). */
    requestDigest: string | null;
    /** The turn before it in its conversation, which a later turn now follows. */
    previousRunId: string | null;
    /** Where it had been deleted before it was erased. */
    deletion: { sequence: number; time: number } | null;
    /** What the row of its conversation owes to it; null outside of conversations. */
    conversation: { conversationId: string; userId: string | null; createdAt: number } | null;
  }
>;

export const ERASURE_EVENTS: Readonly<Record<RunErased['type'], true>> = { RunErased: true };
