import { BULK_EVENTS, CONVERSATION_EVENTS, ERASURE_EVENTS, RUN_EVENTS } from '@runyard/contracts';
import { records } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import { CommitReader } from './commits';
import type { UnknownEvent } from './commits';
import { RunBatch } from './run-batch';
import { findRows } from './run-rows';
import { NOTE_UNKNOWN } from './run-statements';
import { writeBatch } from './run-writes';

/** Larger batches are applied in parts, so that no parameter outgrows what the server and memory like. Bytes of bodies. */
const PART_BYTES = 8 * 1024 * 1024;
/** Short for who looks at a list; long enough for several steps of a quick run to share a transaction and its rows. */
const GATHER_MS = 250;
/** Bulk actions have rows of their own; here they are known, and nothing comes of them. */
const KNOWN: ReadonlySet<string> = new Set(
  [RUN_EVENTS, CONVERSATION_EVENTS, ERASURE_EVENTS, BULK_EVENTS].flatMap((events) => Object.keys(events)),
);

/**
 * The one reader of RUNS that makes rows of it (P8.3): runs, steps, trajectories, conversations, and beside them the keys
 * and drivers that operations need. Pure but for its statements; unqualified names mean the schema of the connection, so
 * a rebuild is the same projection in another schema. `onUnknown` hears of event types that were recorded and skipped.
 */
export function runsProjection(onUnknown: (event: UnknownEvent) => void = () => undefined): Projection {
  return {
    name: 'runs',
    version: 1,
    stream: 'RUNS',
    gatherMs: GATHER_MS,
    apply: async (tx, commits) => {
      for (const part of parts(commits)) await applyPart(tx, part, onUnknown);
    },
  };
}

function* parts(commits: readonly ProjectedCommit[]): Generator<readonly ProjectedCommit[]> {
  let from = 0;
  let bytes = 0;
  for (const [index, commit] of commits.entries()) {
    bytes += commit.body.byteLength;
    if (bytes < PART_BYTES && index < commits.length - 1) continue;
    yield commits.slice(from, index + 1);
    from = index + 1;
    bytes = 0;
  }
}

async function applyPart(
  tx: Tx,
  commits: readonly ProjectedCommit[],
  onUnknown: (event: UnknownEvent) => void,
): Promise<void> {
  const unknown: UnknownEvent[] = [];
  const reader = new CommitReader(KNOWN, (event) => unknown.push(event));
  const read = commits.map((commit) => reader.read(commit));
  const batch = new RunBatch(await findRows(tx, read));
  for (const commit of read) batch.apply(commit);
  await writeBatch(tx, batch);
  if (unknown.length === 0) return;
  await tx.query(NOTE_UNKNOWN, [records(summary(unknown))]);
  for (const event of unknown) onUnknown(event);
}

function summary(unknown: readonly UnknownEvent[]): object[] {
  const types = new Map<
    string,
    { type: string; times: number; first_position: string; last_position: string; last_sequence: number }
  >();
  for (const { type, position, sequence } of unknown) {
    const seen = types.get(type) ?? {
      type,
      times: 0,
      first_position: position,
      last_position: position,
      last_sequence: sequence,
    };
    types.set(type, { ...seen, times: seen.times + 1, last_position: position, last_sequence: sequence });
  }
  return [...types.values()];
}
