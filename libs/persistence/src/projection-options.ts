import type { CommitSource, Database, Projection, ProjectorStatus } from './types';

export interface ProjectionOptions {
  db: Database;
  source: CommitSource;
  projection: Projection;
  /** Ends the projector after the transaction under way. */
  signal: AbortSignal;
  /** Most commits in one transaction; default and maximum 1,000. Fewer are applied as soon as they are there. */
  batchSize?: number;
  onStatus?: (status: ProjectorStatus) => void;
  /** After every committed batch, for metrics. */
  onBatch?: (batch: { commits: number; milliseconds: number; position: number }) => void;
  /** Something an operator must look at although the projector goes on. */
  onAlarm?: (message: string) => void;
  /** Where commits lie that the stream no longer holds. Default: the archive. */
  history?: CommitSource;
}
