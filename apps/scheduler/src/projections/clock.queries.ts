import type { CatchUp, Schedule } from '@runyard/contracts';
import type { Database, Tx } from '@runyard/persistence';

/** An agent's clock, with everything that decides about its next slot. Instants are epoch ms. */
export interface ClockRow {
  org: string;
  agentId: string;
  /** False: the agent is gone and only its clock is left. */
  present: boolean;
  schedule: Schedule | null;
  scheduledAt: number;
  overlap: 'skip' | 'queue' | 'replace';
  concurrency: string;
  catchUp: CatchUp;
  open: boolean;
  openedAt: number;
  ownerZone: string | null;
  orgZone: string;
  zoneSince: number;
  /** True: the plan was made from other facts than these. */
  stale: boolean;
  agentPosition: string | null;
  ownerPosition: string | null;
  orgPosition: string | null;
  next: number | null;
  decided: number | null;
  requested: number | null;
  deferred: number | null;
  cancelAsked: number | null;
  /** Unfinished runs that hold the agent's one place. */
  holders: string[];
}

/** What a clock says after it was looked at; null: it goes with its agent. */
export type ClockAfter = Pick<ClockRow, 'next' | 'decided' | 'requested' | 'deferred' | 'cancelAsked'> | null;

const ms = (expression: string, name: string): string =>
  `round(extract(epoch FROM ${expression}) * 1000)::float8 AS "${name}"`;

/** An owner or org that is not known yet has not opened anything. */
const COLUMNS = `c.org_id AS org, c.agent_id AS "agentId", a.agent_id IS NOT NULL AS present, a.schedule, ${ms('a.scheduled_at', 'scheduledAt')},
  a.overlap, a.concurrency, a.catch_up AS "catchUp",
  COALESCE(a.enabled AND NOT a.locked AND a.has_model AND u.active AND o.org_id IS NOT NULL, false) AS open,
  ${ms('GREATEST(a.opened_at, u.active_since)', 'openedAt')}, u.time_zone AS "ownerZone", COALESCE(o.time_zone, 'UTC') AS "orgZone",
  ${ms('GREATEST(u.zone_since, CASE WHEN u.time_zone IS NULL THEN o.zone_since END)', 'zoneSince')},
  (c.agent_position, c.owner_position, c.org_position) IS DISTINCT FROM (a.position, u.position, o.position) AS stale,
  a.position AS "agentPosition", u.position AS "ownerPosition", o.position AS "orgPosition",
  ${ms('c.next_run_at', 'next')}, ${ms('c.decided_at', 'decided')}, ${ms('c.requested_at', 'requested')}, ${ms('c.deferred_at', 'deferred')},
  ${ms('c.cancel_asked_at', 'cancelAsked')},
  ARRAY(SELECT r.run_id FROM unfinished_runs r WHERE r.org_id = c.org_id AND r.agent_id = c.agent_id) AS holders`;
const FROM = `agent_clocks c
  LEFT JOIN scheduled_agents a USING (org_id, agent_id)
  LEFT JOIN schedule_owners u ON u.org_id = c.org_id AND u.user_id = a.owner_id
  LEFT JOIN schedule_orgs o ON o.org_id = c.org_id`;

const STALE = `a.agent_id IS NULL OR (c.agent_position, c.owner_position, c.org_position) IS DISTINCT FROM (a.position, u.position, o.position)`;
const DUE = `c.next_run_at <= to_timestamp($3::float8 / 1000) OR (c.deferred_at IS NOT NULL AND (
  NOT EXISTS (SELECT 1 FROM unfinished_runs r WHERE r.org_id = c.org_id AND r.agent_id = c.agent_id)
  OR (a.overlap = 'replace' AND COALESCE(c.cancel_asked_at < to_timestamp($4::float8 / 1000), true))))`;

export interface Scan {
  which: 'stale' | 'due';
  now: number;
  /** A cancel that was asked for before this instant is asked for again. */
  cancelAgainBefore: number;
  /** `<org>/<agent>` that are left alone for a while. */
  except: readonly string[];
  most: number;
}

/** Clocks of all orgs: one scan finds whoever is due. Rows that another scheduler holds are passed over. */
export class ClockQueries {
  constructor(private readonly db: Database) {}

  /** How far the facts have come: nothing can be stale that was looked at since. */
  async factsPosition(): Promise<string> {
    const rows = await this.db.acrossOrgs('positions of what slots depend on', (tx) =>
      tx.query<{ at: string }>(
        `SELECT stream || ' ' || position AS at FROM projection_checkpoints WHERE projection IN ('scheduler-agents', 'scheduler-people') ORDER BY 1`,
      ),
    );
    return rows.map(({ at }) => at).join(', ');
  }

  /** Gives every new agent a clock. */
  async addClocks(): Promise<void> {
    await this.db.acrossOrgs('clocks of new agents', (tx) =>
      tx.query(
        `INSERT INTO agent_clocks (org_id, agent_id) SELECT org_id, agent_id FROM scheduled_agents a
         WHERE NOT EXISTS (SELECT 1 FROM agent_clocks c WHERE c.org_id = a.org_id AND c.agent_id = a.agent_id) ON CONFLICT DO NOTHING`,
      ),
    );
  }

  /**
   * Takes clocks that need a look, for the time of `look`, and stores what it says of them. If anything fails, or the
   * process dies, nothing is stored and the next scan takes them again. Returns how many there were.
   */
  take(
    scan: Scan,
    look: (rows: ClockRow[]) => Promise<(readonly [ClockRow, ClockAfter])[]>,
  ): Promise<number> {
    return this.db.acrossOrgs('due slots', async (tx) => {
      const rows = await tx.query<ClockRow>(
        `SELECT ${COLUMNS} FROM ${FROM} WHERE (${scan.which === 'stale' ? STALE : DUE})
           AND NOT (c.org_id || '/' || c.agent_id = ANY ($1::text[]))
         ORDER BY c.next_run_at LIMIT $2 FOR UPDATE OF c SKIP LOCKED`,
        [[...scan.except], scan.most, ...(scan.which === 'due' ? [scan.now, scan.cancelAgainBefore] : [])],
      );
      if (rows.length) await store(tx, await look(rows));
      return rows.length;
    });
  }

  /** Whether a plan is out of date that nobody has looked at; another scheduler may hold it and die. */
  async anyStale(): Promise<boolean> {
    const rows = await this.db.acrossOrgs('plans that are out of date', (tx) =>
      tx.query(`SELECT 1 FROM ${FROM} WHERE ${STALE} LIMIT 1`),
    );
    return rows.length > 0;
  }

  /** Slots that were due before an instant and that no scheduler has decided about. */
  async overdue(before: number): Promise<number> {
    const [row] = await this.db.acrossOrgs('overdue slots', (tx) =>
      tx.query<{ n: number }>(
        'SELECT count(*)::int AS n FROM agent_clocks WHERE next_run_at < to_timestamp($1::float8 / 1000.0)',
        [before],
      ),
    );
    return row?.n ?? 0;
  }

  /** Clocks of agents, for their org. */
  find(org: string, agentIds: readonly string[]): Promise<(ClockRow & { ownerId: string })[]> {
    return this.db.inOrg(org, (tx) =>
      tx.query<ClockRow & { ownerId: string }>(
        `SELECT ${COLUMNS}, a.owner_id AS "ownerId" FROM (SELECT s.org_id, s.agent_id, k.next_run_at, k.decided_at, k.requested_at, k.deferred_at,
            k.cancel_asked_at, k.agent_position, k.owner_position, k.org_position
           FROM scheduled_agents s LEFT JOIN agent_clocks k USING (org_id, agent_id) WHERE s.agent_id = ANY ($1::text[])) c
         ${FROM.slice(FROM.indexOf('LEFT JOIN'))}`,
        [[...agentIds]],
      ),
    );
  }

  /** Next runs of an org, soonest first; of one owner's agents where `ownerId` is given. */
  list(org: string, ownerId: string | null, limit: number): Promise<{ agentId: string; next: number }[]> {
    return this.db.inOrg(org, (tx) =>
      tx.query<{ agentId: string; next: number }>(
        `SELECT c.agent_id AS "agentId", ${ms('c.next_run_at', 'next')} FROM agent_clocks c JOIN scheduled_agents a USING (org_id, agent_id)
         WHERE c.next_run_at IS NOT NULL AND ($1::uuid IS NULL OR a.owner_id = $1) ORDER BY c.next_run_at, c.agent_id LIMIT $2`,
        [ownerId, limit],
      ),
    );
  }

  /** The zone of a person, else of the org; undefined where neither is known. */
  async zoneOf(org: string, userId: string | null): Promise<string | undefined> {
    const [row] = await this.db.inOrg(org, (tx) =>
      tx.query<{ zone: string }>(
        `SELECT COALESCE(u.time_zone, o.time_zone) AS zone FROM schedule_orgs o LEFT JOIN schedule_owners u ON u.org_id = o.org_id AND u.user_id = $1`,
        [userId],
      ),
    );
    return row?.zone;
  }
}

async function store(tx: Tx, looked: readonly (readonly [ClockRow, ClockAfter])[]): Promise<void> {
  const gone = looked
    .filter(([, after]) => after === null)
    .map(([{ org, agentId }]) => ({ org_id: org, agent_id: agentId }));
  const kept = looked.flatMap(([row, after]) => (after ? [{ ...after, ...pick(row) }] : []));
  if (gone.length)
    await tx.query(
      `DELETE FROM agent_clocks c USING jsonb_to_recordset($1::jsonb) AS g (org_id uuid, agent_id text) WHERE (c.org_id, c.agent_id) = (g.org_id, g.agent_id)`,
      [JSON.stringify(gone)],
    );
  if (kept.length === 0) return;
  await tx.query(
    `UPDATE agent_clocks c SET next_run_at = to_timestamp(n.next / 1000), decided_at = to_timestamp(n.decided / 1000),
       requested_at = to_timestamp(n.requested / 1000), deferred_at = to_timestamp(n.deferred / 1000),
       cancel_asked_at = to_timestamp(n."cancelAsked" / 1000), agent_position = n."agentPosition",
       owner_position = n."ownerPosition", org_position = n."orgPosition"
     FROM jsonb_to_recordset($1::jsonb) AS n (org uuid, "agentId" text, next float8, decided float8, requested float8, deferred float8,
       "cancelAsked" float8, "agentPosition" text, "ownerPosition" text, "orgPosition" text)
     WHERE c.org_id = n.org AND c.agent_id = n."agentId"`,
    [JSON.stringify(kept)],
  );
}

const pick = ({ org, agentId, agentPosition, ownerPosition, orgPosition }: ClockRow) => ({
  org,
  agentId,
  agentPosition,
  ownerPosition,
  orgPosition,
});
