import { parseSubject } from '@runyard/contracts';
import type { DomainEvent } from '@runyard/contracts';
import { eventsOf, mayHold, records } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import type { ActivityFacts, ActivityLine, LinesOf } from './activity-lines';
import { isOrg } from './rows';

/** A feed is looked at by people: entries may be half a second late, and so gather with hundreds of steps that make none. */
const GATHER_MS = 500;

const UNKNOWN: ActivityFacts = {
  owner_id: null,
  requested_by: null,
  agent_id: null,
  run_id: null,
  task_id: null,
};

/** An entry before it is known whom it concerns. */
interface Entry {
  sequence: number;
  index: number;
  org_id: string;
  at: string;
  actor: string;
  subject: string;
  line: ActivityLine;
}

export interface ActivitySource<Event extends DomainEvent> {
  name: string;
  stream: string;
  table: string;
  lines: LinesOf<Event>;
  /** The column that names the thing itself. */
  own?: keyof ActivityFacts;
}

/**
 * A stream's part of the activity feed. A handful of event types make an entry; commits without them are passed by after a
 * look at their bytes. What later events do not repeat (whose it is, which agent) is read from the thing's newest entry.
 */
export function activityProjection<Event extends DomainEvent>(source: ActivitySource<Event>): Projection {
  const { name, stream, table, lines } = source;
  const types = new Set(Object.keys(lines));
  return {
    name,
    version: 1,
    stream,
    gatherMs: GATHER_MS,
    concerns: (commit) => mayHold(commit, types),
    async apply(tx, commits) {
      const entries = commits.flatMap((commit) => entriesOf<Event>(commit, lines));
      if (entries.length === 0) return;
      const { rows, forgotten } = withFacts(entries, await knownFacts(tx, table, entries), source.own);
      await save(tx, table, rows, forgotten);
    },
  };
}

function entriesOf<Event extends DomainEvent>(commit: ProjectedCommit, lines: LinesOf<Event>): Entry[] {
  const place = parseSubject(commit.subject);
  if (!place || !isOrg(place.org)) return [];
  return eventsOf<Event>(commit, lines).flatMap(({ event, aggregate, sequence, index }) => {
    const told = lines[event.type as Event['type']] as
      | ((event: Event, id: string) => ActivityLine | null)
      | undefined;
    const line = told?.(event, aggregate);
    if (!line) return [];
    const { subject = aggregate, actor = event.actor } = line;
    const at = new Date(event.time).toISOString();
    return [{ sequence, index, org_id: place.org, at, actor, subject, line }];
  });
}

type Known = Map<string, ActivityFacts>;
const keyOf = ({ org_id, subject }: Pick<Entry, 'org_id' | 'subject'>): string => `${org_id} ${subject}`;

async function knownFacts(tx: Tx, table: string, entries: readonly Entry[]): Promise<Known> {
  const things = [
    ...new Map(entries.map(({ org_id, subject }) => [keyOf({ org_id, subject }), { org_id, subject }])),
  ].map(([, thing]) => thing);
  const rows = await tx.query<ActivityFacts & { org_id: string; subject: string }>(
    `SELECT k.org_id, k.subject, t.owner_id, t.requested_by, t.agent_id, t.run_id, t.task_id
     FROM jsonb_to_recordset($1::jsonb) AS k (org_id uuid, subject text)
     CROSS JOIN LATERAL (SELECT * FROM ${table} a WHERE a.org_id = k.org_id AND a.subject = k.subject
       ORDER BY a.sequence DESC, a.index DESC LIMIT 1) t`,
    [JSON.stringify(things)],
  );
  return new Map(rows.map(({ org_id, subject, ...facts }) => [keyOf({ org_id, subject }), facts]));
}

function withFacts(
  entries: readonly Entry[],
  known: Known,
  own: keyof ActivityFacts | undefined,
): { rows: object[]; forgotten: object[] } {
  let rows: (Omit<Entry, 'line'> & ActivityFacts)[] = [];
  const forgotten: object[] = [];
  for (const { line, ...entry } of entries) {
    const key = keyOf(entry);
    for (const subject of line.forgets ?? []) {
      const gone = { org_id: entry.org_id, subject };
      rows = rows.filter((row) => keyOf(row) !== keyOf(gone));
      known.delete(keyOf(gone));
      forgotten.push(gone);
    }
    const facts = { ...UNKNOWN, ...known.get(key), ...line.facts, ...(own && { [own]: entry.subject }) };
    known.set(key, facts);
    const { topic, kind, summary } = line;
    rows.push(Object.assign(entry, facts, { topic, kind, summary }));
  }
  return { rows, forgotten };
}

async function save(
  tx: Tx,
  table: string,
  rows: readonly object[],
  forgotten: readonly object[],
): Promise<void> {
  if (forgotten.length)
    await tx.query(
      `DELETE FROM ${table} t USING jsonb_to_recordset($1::jsonb) AS k (org_id uuid, subject text)
       WHERE t.org_id = k.org_id AND t.subject = k.subject`,
      [JSON.stringify(forgotten)],
    );
  await tx.query(
    `INSERT INTO ${table} SELECT * FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) ON CONFLICT DO NOTHING`,
    [records(rows)],
  );
}
