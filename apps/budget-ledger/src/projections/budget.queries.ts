import type { WeekPlace } from '@runyard/contracts';
import { positionReached, toSafeInteger } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { BUDGETS } from './budgets.projection';

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 2_000;

/** An owner's week as rows have it; instants are epoch ms. */
export interface WeekStanding {
  ownerId: string;
  place: WeekPlace;
  state: 'open' | 'closed';
  settled: number;
  reserved: number;
}

interface WeekRead {
  owner_id: string;
  week: string;
  starts: number;
  ends: number;
  time_zone: string;
  state: 'open' | 'closed';
  settled: bigint;
  reserved: bigint;
}

const COLUMNS = `owner_id, week::text, extract(epoch FROM starts_at)::float8 * 1000 AS starts,
  extract(epoch FROM ends_at)::float8 * 1000 AS ends, time_zone, state, settled, reserved`;

/** Waits until rows of budgets reflect a position. */
export async function budgetsReached(db: Database, position: string | undefined): Promise<void> {
  if (position !== undefined) await positionReached(db, BUDGETS, position, BRIEFLY_MS);
}

/** The newest week of an owner that the rows have. */
export async function newestWeek(tx: Tx, ownerId: string): Promise<WeekStanding | undefined> {
  const [row] = await tx.query<WeekRead>(
    `SELECT ${COLUMNS} FROM budget_weeks WHERE owner_id = $1 ORDER BY week DESC LIMIT 1`,
    [ownerId],
  );
  return row && standing(row);
}

export async function findWeek(tx: Tx, ownerId: string, week: string): Promise<WeekStanding | undefined> {
  const [row] = await tx.query<WeekRead>(
    `SELECT ${COLUMNS} FROM budget_weeks WHERE owner_id = $1 AND week = $2::date`,
    [ownerId, week],
  );
  return row && standing(row);
}

/** Owners with a week of that name, or with one that holds `at`; by owner, after the one that was seen last. */
export async function listWeeks(
  tx: Tx,
  which: { week?: string; at?: number; ownerId: string | null; after: string | null; most: number },
): Promise<WeekStanding[]> {
  const rows = await tx.query<WeekRead>(
    `SELECT ${COLUMNS} FROM budget_weeks
     WHERE ($1::date IS NULL OR week = $1::date)
       AND ($2::float8 IS NULL OR (starts_at <= to_timestamp($2::float8 / 1000) AND ends_at > to_timestamp($2::float8 / 1000)))
       AND ($3::uuid IS NULL OR owner_id = $3) AND ($4::uuid IS NULL OR owner_id > $4)
     ORDER BY owner_id, week LIMIT $5`,
    [which.week ?? null, which.at ?? null, which.ownerId, which.after, which.most],
  );
  return rows.map(standing);
}

/** The newest weeks of an owner that had begun by an instant; of each the name. */
export async function weeksBegun(tx: Tx, ownerId: string, by: number, most: number): Promise<string[]> {
  const rows = await tx.query<{ week: string }>(
    `SELECT week::text FROM budget_weeks WHERE owner_id = $1 AND starts_at <= to_timestamp($2::float8 / 1000)
     ORDER BY budget_weeks.week DESC LIMIT $3`,
    [ownerId, by, most],
  );
  return rows.map(({ week }) => week);
}

/** Weekly caps by scope: an owner, or the default of all. */
export async function capsByScope(tx: Tx): Promise<ReadonlyMap<string, number | null>> {
  const rows = await tx.query<{ scope: string; tokens: string | null }>(
    'SELECT scope, tokens FROM spend_caps',
  );
  return new Map(rows.map(({ scope, tokens }) => [scope, tokens === null ? null : toSafeInteger(tokens)]));
}

/** Tokens that were settled since an instant, by owner. */
export async function settledSince(tx: Tx, since: number): Promise<ReadonlyMap<string, number>> {
  const rows = await tx.query<{ owner_id: string; tokens: string }>(
    `SELECT owner_id, sum(tokens) AS tokens FROM settlements WHERE ended_at >= to_timestamp($1::float8 / 1000) GROUP BY owner_id`,
    [since],
  );
  return new Map(rows.map((row) => [row.owner_id, toSafeInteger(row.tokens)]));
}

const standing = (row: WeekRead): WeekStanding => ({
  ownerId: row.owner_id,
  place: {
    week: row.week,
    start: Math.round(row.starts),
    end: Math.round(row.ends),
    timeZone: row.time_zone,
  },
  state: row.state,
  settled: toSafeInteger(row.settled),
  reserved: toSafeInteger(row.reserved),
});
