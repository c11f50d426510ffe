import type { ActivityRow, ActivitySubject, Caller, ListActivity } from '@runyard/contracts';
import { decodeCursor, pageOf, restoreText } from '@runyard/persistence';
import type { Database, Page } from '@runyard/persistence';
import { ACTIVITY_TABLES } from './activity-tables';

type Stream = keyof typeof ACTIVITY_TABLES;
type Add = (value: unknown) => string;

interface Found extends Omit<ActivityRow, 'subject'> {
  subject: string;
  sequence: string;
  index: number;
}

const has = ({ roles }: Caller, ...wanted: Caller['roles']): boolean =>
  wanted.some((role) => roles.includes(role));

/**
 * Whose entries a caller sees, the same as of the things themselves: admins and operators the org's, everybody their own
 * and the standing rules, reviewers what asks and the runs that asked, applications the board and the runs that they asked for.
 */
function visible(stream: Stream, caller: Caller, add: Add): string {
  if (has(caller, 'admin', 'operator')) return 'true';
  const seen = caller.userId === null ? [] : [`t.owner_id = ${add(caller.userId)}::uuid`];
  if (stream === 'RUNS') {
    seen.push(`t.requested_by = ${add(caller.actor)}`);
    if (has(caller, 'reviewer'))
      seen.push('EXISTS (SELECT FROM approvals a WHERE a.run_id = t.run_id AND a.org_id = t.org_id)');
  }
  if (stream === 'APPROVALS') seen.push(has(caller, 'reviewer') ? 'true' : `t.kind LIKE 'rule.%'`);
  if (stream === 'TASKS' && has(caller, 'service')) seen.push('true');
  return seen.length ? `(${seen.join(' OR ')})` : 'false';
}

/** The newest entries of a stream that are asked for; `place`: the last entry of the page before. */
function partOf(stream: Stream, caller: Caller, filter: ListActivity, place: Place, add: Add): string {
  const where = [visible(stream, caller, add)];
  const equal = (column: string, value: unknown) =>
    value !== undefined && where.push(`t.${column} = ${add(value)}`);
  equal('topic', filter.topic);
  equal('kind', filter.kind);
  equal('agent_id', filter.agent_id);
  equal('run_id', filter.run_id);
  equal('task_id', filter.task_id);
  equal('actor', filter.actor);
  if (filter.from !== undefined) where.push(`t.at >= ${add(filter.from)}::timestamptz`);
  if (filter.to !== undefined) where.push(`t.at < ${add(filter.to)}::timestamptz`);
  if (place) {
    const [at, from, sequence, index] = place.map(add);
    where.push(
      `t.at <= ${at}::timestamptz AND (t.at, '${stream}'::text COLLATE "C", t.sequence, t.index)
       < (${at}::timestamptz, ${from}::text, ${sequence}::bigint, ${index}::int)`,
    );
  }
  return `(SELECT '${stream}'::text COLLATE "C" AS stream, t.* FROM ${ACTIVITY_TABLES[stream]} t
    WHERE ${where.join(' AND ')} ORDER BY t.at DESC, t.sequence DESC, t.index DESC LIMIT ${filter.limit + 1})`;
}

/** Of the last entry of a page: time, stream, sequence, index. */
const PLACE = ['time', 'text', 'position', 'integer'] as const;
type Place = readonly (string | number)[] | undefined;

/** The feed over all streams. Rows of other orgs are not there at all. */
export class ActivityQueries {
  constructor(private readonly db: Database) {}

  async list(caller: Caller, filter: ListActivity): Promise<Page<ActivityRow>> {
    const parameters: unknown[] = [];
    const add: Add = (value) => `$${parameters.push(value)}`;
    const place = decodeCursor(filter.cursor, PLACE);
    const streams = Object.keys(ACTIVITY_TABLES) as Stream[];
    const parts = streams.map((stream) => partOf(stream, caller, filter, place, add));
    const rows = await this.db.inOrg(caller.org, (tx) =>
      tx.query<Found>(
        `SELECT to_char(e.at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS time, e.topic, e.kind, e.actor,
         e.subject, e.agent_id, e.run_id, e.task_id, e.summary, e.stream, e.sequence::text AS sequence, e.index
         FROM (${parts.join(' UNION ALL ')}) e
         ORDER BY e.at DESC, e.stream DESC, e.sequence DESC, e.index DESC LIMIT ${filter.limit + 1}`,
        parameters,
      ),
    );
    const { data, next_cursor } = pageOf(rows, filter.limit, (row) => [
      row.time,
      row.stream,
      Number(row.sequence),
      row.index,
    ]);
    return { data: data.map(shown), next_cursor };
  }
}

function shown({ subject, sequence, index, summary, ...row }: Found): ActivityRow {
  const kind = row.kind.slice(0, row.kind.indexOf('.')) as ActivitySubject;
  return {
    ...row,
    subject: { kind, id: subject },
    summary: restoreText(summary),
    position: `${sequence}.${index}`,
  };
}
