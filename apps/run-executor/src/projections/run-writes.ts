import { records, Statements } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';
import { BESIDE_DEPARTURES } from './departures';
import { isUuid } from './commits';
import type { RunBatch } from './run-batch';
import { isEnded } from './run-image';
import type { OfRun, RunImage } from './run-image';
import * as sql from './run-statements';

/**
 * Writes what a batch came to. In this order, because: what is deleted makes room; runs that end free the unique place that
 * a new run takes; rows precede what refers to them.
 */
export async function writeBatch(tx: Tx, batch: RunBatch): Promise<void> {
  const touched = batch.touched();
  const fresh = touched.filter(({ birth }) => birth !== null);
  const known = touched.filter(({ birth }) => birth === null);
  const to = new Statements(tx);
  writeDeletions(to, batch);
  writeEnds(to, known.filter(isEnded));
  to.add(sql.UPDATE_RUNS, known.filter((image) => !isEnded(image)).map(moved));
  writeBirths(to, batch, fresh);
  to.add(
    sql.INSERT_STEPS,
    touched.flatMap(({ steps }) => steps),
  );
  const unfinished = touched.filter((image) => !isEnded(image));
  to.add(sql.INSERT_ENTRIES, unfinished.flatMap(entriesOf));
  to.add(sql.KEEP_PROGRESS, unfinished.map(progressOf));
  writeOperations(to, batch, touched);
  await to.done();
}

function writeDeletions(to: Statements, batch: RunBatch): void {
  to.add(
    sql.DELETE_RUNS,
    batch.deletions.map(({ image, sequence, time }) => ({
      ...identity(image),
      agent_id: image.agent_id,
      state: image.row.state,
      ended_at: image.row.ended_at,
      input_tokens: image.row.input_tokens,
      output_tokens: image.row.output_tokens,
      cached_tokens: image.row.cached_tokens,
      sequence,
      deleted_at: time,
    })),
  );
  to.add(sql.ERASE_RUNS, batch.erased);
  to.add(sql.DELETE_CONVERSATIONS, [...batch.conversations.deletions.values()]);
}

function writeEnds(to: Statements, ended: readonly RunImage[]): void {
  to.add(sql.END_RUNS, ended.map(moved), records(ended.flatMap(entriesOf)));
}

function writeBirths(to: Statements, batch: RunBatch, fresh: readonly RunImage[]): void {
  const conversations = [...batch.conversations.rows.values()].map((row) => ({
    ...row,
    user_id: isUuid(row.user_id) ? row.user_id : null,
  }));
  if (batch.references.size > 0) to.send(BESIDE_DEPARTURES);
  to.add(sql.ADD_REFERENCES, [...batch.references.values()]);
  to.add(sql.ADD_CONVERSATIONS, conversations);
  to.add(sql.KEEP_CONVERSATIONS, [...batch.conversations.keeps.values()]);
  to.add(
    sql.INSERT_RUNS,
    fresh.map((image) => newborn(image, batch)),
  );
}

/** A run whose whole life lies in the batch brings its trajectory along; the others collect it in run_entries. */
const newborn = (image: RunImage, batch: RunBatch): object => ({
  ...moved(image),
  ...image.birth,
  parent_is_new: image.parent_is_new && batch.runs.has(image.birth?.parent_run_id ?? ''),
  entries: isEnded(image)
    ? image.entries.toSorted((a, b) => a.place - b.place).map(({ entry }) => entry)
    : [],
});

function writeOperations(to: Statements, batch: RunBatch, touched: readonly RunImage[]): void {
  const keys = touched
    .filter((image) => image.birth !== null || isEnded(image))
    .map((image) => ({ ...identity(image), digest: image.request_digest, ended: isEnded(image) }));
  const deleted = batch.deletions.map(({ image }) => ({
    ...identity(image),
    digest: image.request_digest,
    ended: true,
  }));
  const fenced = batch.fenced.map((key) => ({ ...key, digest: null, ended: true }));
  const erased = batch.erased.map((row) => ({ ...row, ended: true }));
  // A run may have been deleted and erased in one batch; a statement takes each row once.
  const all = new Map([...keys, ...deleted, ...fenced, ...erased].map((key) => [key.run_id, key]));
  to.add(sql.KEEP_KEYS, [...all.values()]);
  const driven = touched.flatMap((image) => (image.driver ? [{ ...identity(image), ...image.driver }] : []));
  to.add(sql.SET_DRIVERS, driven);
  const left = touched.filter(({ birth, driver }) => driver === null && birth === null);
  const gone = batch.deletions.map(({ image }) => image);
  const undriven = [...left, ...gone, ...batch.erased].map(({ run_id }) => run_id);
  if (undriven.length > 0) to.send(sql.CLEAR_DRIVERS, [undriven]);
}

const identity = ({ run_id, org_id }: RunImage): OfRun => ({ run_id, org_id });
const moved = ({ row }: RunImage): object => row;
/** What the batch adds to a run's trajectory: one row, or none. */
const entriesOf = (image: RunImage): object[] =>
  image.entries.length === 0
    ? []
    : [
        {
          ...identity(image),
          place: Math.min(...image.entries.map(({ place }) => place)),
          entries: image.entries,
        },
      ];
const progressOf = (image: RunImage): object => ({ ...identity(image), ...image.progress });
