import { Problem, subjectOf } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import { escapeIdentifier } from 'pg';
import { archiveProjection } from './archive.projection';
import { SELECT_ARCHIVED, commitOf } from './archive-source';
import type { ArchivedRow } from './archive-source';
import { applyConcerning } from './concerning';
import { positionReached } from './position';
import type { Database, ProjectedCommit, Projection, Tx } from './types';

/** Things whose rows are wanted as they were. */
export interface PastRows {
  org: string;
  context: Context;
  /** Aggregates whose events make the rows; null: all of the org's in that context. */
  ids: readonly string[] | null;
  /** The one among them that must have been there. */
  named?: string;
  /** Position (its whole commit) or RFC 3339 time, as {@link asOfSchema} lets through. */
  asOf: string;
  /** What makes the rows, and all tables that it writes. */
  projection: Projection;
  tables: readonly string[];
}

/** Takes in further aggregates, where only the rows say which are needed. */
export type Include = (ids: readonly string[]) => Promise<void>;

/** How long a position that was just answered may still be on its way to the archive. */
const ARCHIVED_WITHIN_MS = 2_000;
const BATCH = 500;

/**
 * Rows of aggregates as of an earlier moment: their commits up to there, from the archive, go through the projection into
 * empty copies of its tables, and `read` finds those instead of the live ones, with the statements that it always has. The
 * copies are this transaction's own and gone with it. They belong to those aggregates of one org: `read` must ask for
 * nothing else. Throws `not_found` ahead of the first commit of the one that is named, `invalid_request` for what is still to come.
 */
export async function rowsAsOf<T>(
  db: Database,
  past: PastRows,
  read: (tx: Tx, include: Include) => Promise<T>,
): Promise<T> {
  const until = await limitOf(db, past);
  return db.acrossOrgs('rows as of an earlier moment', async (tx) => {
    for (const table of past.tables.map(escapeIdentifier))
      await tx.query(`CREATE TEMP TABLE ${table} (LIKE ${table} INCLUDING ALL) ON COMMIT DROP`);
    const include = (ids: PastRows['ids']) => apply(tx, past, ids, until);
    const found = await include(past.ids);
    if (found === 0 && past.named !== undefined) throw await unborn(tx, past, past.named);
    return read(tx, async (ids) => void (await include(ids)));
  });
}

/** The instant of an earlier moment, epoch ms: of a position, when the last event up to there was decided. Throws like {@link rowsAsOf}. */
export async function instantOf(db: Database, past: Pick<PastRows, 'asOf' | 'projection'>): Promise<number> {
  const until = await limitOf(db, past);
  if ('time' in until) return until.time;
  const { stream } = past.projection;
  const [row] = await db.acrossOrgs('when a position was written', (tx) =>
    tx.query<ArchivedRow>(
      `${SELECT_ARCHIVED} WHERE stream = $1 AND sequence <= $2 ORDER BY sequence DESC LIMIT 1`,
      [stream, until.sequence],
    ),
  );
  return row ? timeOf(commitOf(stream, row)) : 0;
}

/** Sequence of a moment that is named by its position; undefined: it is a time. */
export function sequenceNamed(asOf: string): number | undefined {
  const [, sequence] = /^(\d+)\.\d+$/.exec(asOf) ?? [];
  return sequence === undefined ? undefined : Number(sequence);
}

type Limit = { sequence: number } | { time: number };

async function limitOf(db: Database, past: Pick<PastRows, 'asOf' | 'projection'>): Promise<Limit> {
  const { asOf, projection } = past;
  const refused = (detail: string) =>
    new Problem('invalid_request', `as_of ${asOf} ${detail}; leave it out to read what is there now`, {
      errors: [{ pointer: '/as_of', detail }],
    });
  const sequence = sequenceNamed(asOf);
  if (sequence === undefined) {
    const time = Date.parse(asOf);
    if (time > Date.now()) throw refused('lies in the future');
    return { time };
  }
  if (!(await positionReached(db, archiveProjection(projection.stream), `${sequence}.0`, ARCHIVED_WITHIN_MS)))
    throw refused(`is beyond the end of ${projection.stream}`);
  return { sequence };
}

/** How many commits there were. */
async function apply(tx: Tx, past: PastRows, ids: PastRows['ids'], until: Limit): Promise<number> {
  let count = 0;
  let after = 0;
  for (;;) {
    const batch = await archived(tx, past, ids, { after, until, most: BATCH });
    const found = 'time' in until ? batch.filter((commit) => timeOf(commit) <= until.time) : batch;
    if (found.length > 0) await applyConcerning(past.projection, tx, found);
    count += found.length;
    if (batch.length < BATCH) return count;
    after = batch.at(-1)?.sequence ?? after;
  }
}

interface Part {
  after: number;
  until: Limit;
  most: number;
}

async function archived(
  tx: Tx,
  { org, context, projection: { stream } }: PastRows,
  ids: PastRows['ids'],
  { after, until, most }: Part,
): Promise<ProjectedCommit[]> {
  const last = 'sequence' in until ? until.sequence : Number.MAX_SAFE_INTEGER;
  const subjects = ids?.map((id) => subjectOf(context, org, id));
  const rows = await tx.query<ArchivedRow>(
    `${SELECT_ARCHIVED} WHERE stream = $1 AND org_id = $2 AND sequence > $3 AND sequence <= $4
     ${subjects ? 'AND subject = ANY($6::text[])' : ''} ORDER BY sequence LIMIT $5`,
    [stream, org, after, last, most, ...(subjects ? [subjects] : [])],
  );
  return rows.map((row) => commitOf(stream, row));
}

async function unborn(tx: Tx, past: PastRows, id: string): Promise<Problem> {
  const all: Part = { after: 0, until: { sequence: Number.MAX_SAFE_INTEGER }, most: 1 };
  const [first] = await archived(tx, past, [id], all);
  if (!first) return new Problem('not_found', `There is nothing of ${id} in the log`);
  const begins = new Date(timeOf(first)).toISOString();
  return new Problem(
    'not_found',
    `${id} was not there as of ${past.asOf}; it begins at ${begins}, position ${first.sequence}.0: ask for that or later`,
  );
}

/** When the commit was decided, epoch ms: events of one commit share it. */
function timeOf({ body, storedAt }: ProjectedCommit): number {
  const [event] = JSON.parse(Buffer.from(body).toString('utf8')) as { time?: string }[];
  return event?.time === undefined ? storedAt : Date.parse(event.time);
}
