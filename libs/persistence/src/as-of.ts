import { Problem, subjectOf } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import { escapeIdentifier } from 'pg';
import { archiveProjection } from './archive.projection';
import { SELECT_ARCHIVED, commitOf } from './archive-source';
import type { ArchivedRow } from './archive-source';
import { applyConcerning } from './concerning';
import { positionReached } from './position';
import type { Database, ProjectedCommit, Projection, Tx } from './types';

/** A thing whose rows are wanted as they were. */
export interface PastRows {
  org: string;
  context: Context;
  /** Id of the aggregate. */
  id: string;
  /** Position (its whole commit) or RFC 3339 time, as {@link asOfSchema} lets through. */
  asOf: string;
  /** What makes the rows, and all tables that it writes. */
  projection: Projection;
  tables: readonly string[];
}

/** How long a position that was just answered may still be on its way to the archive. */
const ARCHIVED_WITHIN_MS = 2_000;

/**
 * Rows of one aggregate as of an earlier moment: its commits up to there, from the archive, go through the projection into
 * empty copies of its tables, and `read` finds those instead of the live ones, with the statements that it always has. The
 * copies are this transaction's own and gone with it. They belong to one aggregate of one org: `read` must ask for
 * nothing else. Throws `not_found` ahead of the aggregate's first commit, `invalid_request` for what is still to come.
 */
export async function rowsAsOf<T>(db: Database, past: PastRows, read: (tx: Tx) => Promise<T>): Promise<T> {
  const { projection, tables } = past;
  const until = await limitOf(db, past);
  return db.acrossOrgs('rows as of an earlier moment', async (tx) => {
    const commits = await commitsOf(tx, past, until);
    for (const table of tables.map(escapeIdentifier))
      await tx.query(`CREATE TEMP TABLE ${table} (LIKE ${table} INCLUDING ALL) ON COMMIT DROP`);
    await applyConcerning(projection, tx, commits);
    return read(tx);
  });
}

type Limit = { sequence: number } | { time: number };

async function limitOf(db: Database, { asOf, projection: { stream } }: PastRows): Promise<Limit> {
  const refused = (detail: string) =>
    new Problem('invalid_request', `as_of ${asOf} ${detail}; leave it out to read what is there now`, {
      errors: [{ pointer: '/as_of', detail }],
    });
  const [, sequence] = /^(\d+)\.\d+$/.exec(asOf) ?? [];
  if (sequence === undefined) {
    const time = Date.parse(asOf);
    if (time > Date.now()) throw refused('lies in the future');
    return { time };
  }
  if (!(await positionReached(db, archiveProjection(stream), `${sequence}.0`, ARCHIVED_WITHIN_MS)))
    throw refused(`is beyond the end of ${stream}`);
  return { sequence: Number(sequence) };
}

async function commitsOf(tx: Tx, past: PastRows, until: Limit): Promise<ProjectedCommit[]> {
  const { org, context, id, asOf, projection } = past;
  const rows = await tx.query<ArchivedRow>(
    `${SELECT_ARCHIVED} WHERE stream = $1 AND subject = $2 AND org_id = $3 ORDER BY sequence`,
    [projection.stream, subjectOf(context, org, id), org],
  );
  const all = rows.map((row) => commitOf(projection.stream, row));
  const found = all.filter((commit) =>
    'sequence' in until ? commit.sequence <= until.sequence : timeOf(commit) <= until.time,
  );
  const [first] = all;
  if (found.length > 0 || !first) return found;
  const begins = new Date(timeOf(first)).toISOString();
  throw new Problem(
    'not_found',
    `${id} was not there as of ${asOf}; it begins at ${begins}, position ${first.sequence}.0: ask for that or later`,
  );
}

/** When the commit was decided, epoch ms: events of one commit share it. */
function timeOf({ body, storedAt }: ProjectedCommit): number {
  const [event] = JSON.parse(Buffer.from(body).toString('utf8')) as { time?: string }[];
  return event?.time === undefined ? storedAt : Date.parse(event.time);
}
