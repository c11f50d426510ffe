import { positionReached, runProjection } from '@runyard/persistence';
import type { Database, Projection, ProjectorStatus } from '@runyard/persistence';
import { MemorySource, projectedCommit } from './projection-spec-source';
import type { SpecCommit } from './projection-spec-source';

const APPLIED_WITHIN_MS = 60_000;

/** Given events, then rows; on a real Postgres, through the real projector. */
export interface ProjectionSpec {
  /**
   * Appends commits and waits until they are applied. Everything is delivered twice, also after a restart of the
   * projector in between: a projection that counts a redelivery shows it in every one of its specs (case C56).
   */
  given(...commits: readonly SpecCommit[]): Promise<void>;
  /** Rows as the owner of all orgs sees them. */
  rows<Row = Record<string, unknown>>(sql: string, params?: readonly unknown[]): Promise<Row[]>;
}

async function applied(db: Database, projection: Projection, source: MemorySource): Promise<void> {
  const stop = new AbortController();
  let last: ProjectorStatus | undefined;
  let failed: (fault: Error) => void = () => undefined;
  const fault = new Promise<never>((_, reject) => (failed = reject));
  const onStatus = (status: ProjectorStatus) => {
    last = status;
    if (status.state === 'faulted') failed(new Error(status.fault ?? 'faulted'));
  };
  const running = runProjection({ db, source, projection, signal: stop.signal, onStatus });
  try {
    const reached = await Promise.race([
      positionReached(db, projection, source.lastSequence, APPLIED_WITHIN_MS),
      fault,
    ]);
    if (!reached)
      throw new Error(`${projection.name} did not reach ${source.lastSequence}: ${JSON.stringify(last)}`);
  } finally {
    stop.abort();
    await running;
  }
}

/** A projection under test on a service's database. The position of the n-th commit given is n. */
export function projectionSpec(db: Database, projection: Projection): ProjectionSpec {
  const source = new MemorySource();
  source.deliveries = 2;
  return {
    given: async (...commits) => {
      source.append(
        ...commits.map((commit, index) => projectedCommit(commit, source.lastSequence + index + 1)),
      );
      await applied(db, projection, source);
    },
    rows: (sql, params) => db.acrossOrgs('spec', (tx) => tx.query(sql, params)),
  };
}
