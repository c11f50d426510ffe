import type { RunErased } from '@runyard/contracts';
import type { ReadCommit } from './commits';

type Erasure = RunErased['data'];

/** A run that was erased, as its tombstone keeps it. Times are epoch milliseconds. */
export interface ErasedRow {
  run_id: string;
  org_id: string;
  agent_id: string;
  state: string;
  ended_at: number | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  previous_run_id: string | null;
  sequence: number;
  deleted_at: number;
  erased_at: number;
  digest: string | null;
}

/** The erasures that a commit tells of. */
export const erasuresIn = ({ context, events }: Pick<ReadCommit, 'context' | 'events'>): Erasure[] =>
  context === 'erasures'
    ? events.flatMap(({ name, data }) => (name === 'RunErased' ? [data as Erasure] : []))
    : [];

/** The tombstone: of the deletion before, where there was one. */
export const erasedRow = (
  org: string,
  erasure: Erasure,
  at: { sequence: number; time: number },
): ErasedRow => ({
  run_id: erasure.runId,
  org_id: org,
  agent_id: erasure.agentId,
  state: erasure.state,
  ended_at: erasure.endedAt,
  input_tokens: erasure.inputTokens,
  output_tokens: erasure.outputTokens,
  cached_tokens: erasure.cachedTokens,
  previous_run_id: erasure.previousRunId,
  sequence: erasure.deletion?.sequence ?? at.sequence,
  deleted_at: erasure.deletion?.time ?? at.time,
  erased_at: at.time,
  digest: erasure.requestDigest,
});
