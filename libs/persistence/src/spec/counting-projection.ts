import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Migration } from '../migrations';
import { enableTenantPolicies } from '../policies';
import type { CommitSource, ProjectedCommit, Projection } from '../types';

// A projection that shows every commit that is lost, doubled or out of order. For specs.

/** Two orgs take turns. */
export const ORGS = ['0197a0f0-0000-7000-8000-00000000000a', '0197a0f0-0000-7000-8000-00000000000b'] as const;

export const countingMigrations: readonly Migration[] = [
  {
    name: 'CreateCounters',
    timestamp: 1_764_500_000_000,
    up: `
      CREATE TABLE counters (org_id uuid NOT NULL, id text NOT NULL, commits int8 NOT NULL, total int8 NOT NULL,
        last int8 NOT NULL, seen_at timestamptz NOT NULL DEFAULT clock_timestamp(), PRIMARY KEY (org_id, id));
      ${enableTenantPolicies('counting', 'counters')}`,
  },
];

export const INCARNATION = '2026-01-05T09:00:00Z';

/** The commit at a place of the made-up stream: the same for every reader. */
export function countedCommit(sequence: number, bodyBytes = 0): ProjectedCommit {
  const org = ORGS[sequence % 2] ?? ORGS[0];
  return {
    stream: 'RUNS',
    subject: ['runyard', 'runs', '0', org, `run_${sequence % 7}`].join('.'),
    sequence,
    commitId: `commit-${sequence}`,
    storedAt: Date.UTC(2026, 0, 5) + sequence,
    headers: { 'Nats-Msg-Id': `commit-${sequence}` },
    body: Buffer.from(
      JSON.stringify([{ type: 'runyard.Counted.v1', data: { sequence, filler: 'x'.repeat(bodyBytes) } }]),
    ),
  };
}

/** A stream of `last` commits that then waits, like a real one. */
export function countingSource(last: number, bodyBytes = 0): CommitSource {
  return {
    state: async () => ({ firstSequence: 1, lastSequence: last, incarnation: INCARNATION }),
    async *read(after, signal) {
      for (let sequence = after + 1; sequence <= last && !signal.aborted; sequence++) {
        if (sequence % 256 === 0) await nextTurn();
        yield countedCommit(sequence, bodyBytes);
      }
      if (!signal.aborted)
        await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    },
  };
}

/** Adds up; not idempotent, on purpose. */
export const countingProjection: Projection = {
  name: 'counting',
  version: 1,
  stream: 'RUNS',
  async apply(tx, commits) {
    const parts = commits.map(({ subject }) => subject.split('.'));
    await tx.query(
      `INSERT INTO counters AS c (org_id, id, commits, total, last)
       SELECT org_id, id, count(*), sum(sequence), max(sequence)
       FROM unnest($1::uuid[], $2::text[], $3::int8[]) AS n (org_id, id, sequence) GROUP BY org_id, id
       ON CONFLICT (org_id, id) DO UPDATE
       SET commits = c.commits + excluded.commits, total = c.total + excluded.total, last = excluded.last`,
      [parts.map((part) => part[3]), parts.map((part) => part[4]), commits.map(({ sequence }) => sequence)],
    );
  },
};
