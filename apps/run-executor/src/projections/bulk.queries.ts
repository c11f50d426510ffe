import type { BulkKind, Caller } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { positionReached } from '@runyard/persistence';
import type { Database, Tx } from '@runyard/persistence';
import { cursorOf, limitOf, placeOf } from './cursor';
import { conditions } from './run.queries';
import type { Page, RunFilter } from './run.queries';
import { answer, BEGUN } from './run-views';
import type { Answer } from './run-views';
import { Parameters, seesAll } from './visibility';

const BULK = { name: 'bulk-actions', version: 1, stream: 'RUNS' };
/** How long a read waits for the position that it asks for. */
const POSITION_WITHIN_MS = 2_000;
const CREATED_MS = 'round(extract(epoch FROM b.created_at) * 1000)::float8';
const COLUMNS = `b.bulk_action_id, b.action, b.filter, b.state, b.requested_by, b.runs, b.chosen, b.handled,
  jsonb_build_object('done', b.done, 'requested', b.requested, 'refused', b.refused) AS outcomes,
  b.created_at, b.abort_requested_at, b.abort_requested_by, b.ended_at, b.position`;

/** Which of the runs that a filter finds an action can be done to. */
const FITTING: Readonly<Record<BulkKind, string>> = {
  cancel: `a.state IN ('queued', 'running', 'awaiting_approval', 'paused', 'waiting')`,
  pause: `a.state IN ('queued', 'running', 'awaiting_approval', 'waiting')`,
  resume: `(a.state = 'paused' OR (a.pause_requested AND a.ended_at IS NULL))`,
  retry: `a.state IN ('failed', 'cancelled')`,
};

export type BulkFilter = Omit<RunFilter, 'limit' | 'cursor' | 'at_least'>;

export interface BulkRead {
  bulk_action_id: string;
  at_least?: string;
}

/** Which runs a bulk action is about, and what became of it, as its caller may see that. */
export class BulkQueries {
  constructor(private readonly db: Database) {}

  /** How many runs it would be, all of them counted, and the newest few. */
  preview(
    caller: Caller,
    action: BulkKind,
    filter: BulkFilter,
    sample: number,
  ): Promise<{ count: number; sample: string[] }> {
    const parameters = new Parameters();
    const where = fitting(caller, action, filter, parameters);
    return this.db.inOrg(caller.org, async (tx) => {
      const [counted] = await tx.query<{ count: number }>(
        `SELECT count(*)::integer AS count FROM agent_runs a WHERE ${where}`,
        parameters.values,
      );
      const rows = await tx.query<{ run_id: string }>(
        `SELECT a.run_id FROM agent_runs a WHERE ${where} ORDER BY ${BEGUN} DESC, a.run_id DESC LIMIT ${sample}`,
        parameters.values,
      );
      return { count: counted?.count ?? 0, sample: rows.map(({ run_id }) => run_id) };
    });
  }

  /**
   * A page of the runs, in the order of their ids: the one order that nothing changes while they are chosen. Runs that were
   * queued after `before` (epoch ms) are not meant.
   */
  async choose(
    caller: Caller,
    { action, filter }: { action: BulkKind; filter: BulkFilter },
    { after, before, limit }: { after: string | undefined; before: number; limit: number },
  ): Promise<string[]> {
    const parameters = new Parameters();
    const { add } = parameters;
    const where = [
      fitting(caller, action, filter, parameters),
      `a.created_at <= to_timestamp(${add(before)}::float8 / 1000)`,
      ...(after === undefined ? [] : [`a.run_id > ${add(after)}`]),
    ];
    const rows = await this.db.inOrg(caller.org, (tx) =>
      tx.query<{ run_id: string }>(
        `SELECT a.run_id FROM agent_runs a WHERE ${where.join(' AND ')} ORDER BY a.run_id LIMIT ${limit}`,
        parameters.values,
      ),
    );
    return rows.map(({ run_id }) => run_id);
  }

  /** Newest first. */
  async list(
    caller: Caller,
    filter: { state?: string; limit?: number; cursor?: string; at_least?: string },
  ): Promise<Page> {
    const limit = limitOf(filter.limit);
    const parameters = new Parameters();
    const { add } = parameters;
    const all = [`b.org_id = ${add(caller.org)}::uuid`, visible(caller, parameters)];
    if (filter.state !== undefined) all.push(`b.state = ${add(filter.state)}`);
    if (filter.cursor !== undefined) {
      const { at, id } = placeOf(filter.cursor);
      all.push(`(${CREATED_MS}, b.bulk_action_id) < (${add(at)}::float8, ${add(id)})`);
    }
    const rows = await this.read(caller, filter.at_least, (tx) =>
      tx.query(
        `SELECT ${COLUMNS}, ${CREATED_MS} AS created FROM bulk_actions b WHERE ${all.join(' AND ')}
         ORDER BY ${CREATED_MS} DESC, b.bulk_action_id DESC LIMIT ${limit + 1}`,
        parameters.values,
      ),
    );
    const page = rows.slice(0, limit);
    const last = rows.length > limit ? page.at(-1) : undefined;
    return {
      data: page.map(({ created: _created, ...row }) => answer(row)),
      next_cursor: last ? cursorOf({ at: Number(last.created), id: String(last.bulk_action_id) }) : null,
    };
  }

  get(caller: Caller, { bulk_action_id, at_least }: BulkRead): Promise<Answer> {
    return this.read(caller, at_least, (tx) => this.visible(tx, caller, bulk_action_id));
  }

  /** Its runs with what became of each, in the order in which they are told. */
  results(
    caller: Caller,
    read: BulkRead & { outcome?: string; limit?: number; cursor?: string },
  ): Promise<Page> {
    const limit = limitOf(read.limit);
    const parameters = new Parameters();
    const { add } = parameters;
    const where = [`r.bulk_action_id = ${add(read.bulk_action_id)}`];
    if (read.outcome === 'none') where.push('r.outcome IS NULL');
    else if (read.outcome !== undefined) where.push(`r.outcome = ${add(read.outcome)}`);
    if (read.cursor !== undefined) where.push(`r.place > ${add(placeOf(read.cursor).at)}::float8`);
    return this.read(caller, read.at_least, async (tx) => {
      await this.visible(tx, caller, read.bulk_action_id);
      const rows = await tx.query(
        `SELECT r.place, r.run_id, r.outcome, r.state, r.code, r.detail, r.new_run_id FROM bulk_action_runs r
         WHERE ${where.join(' AND ')} ORDER BY r.place LIMIT ${limit + 1}`,
        parameters.values,
      );
      const page = rows.slice(0, limit);
      const last = rows.length > limit ? page.at(-1) : undefined;
      return {
        data: page.map(({ place: _place, ...row }) => answer(row)),
        next_cursor: last ? cursorOf({ at: Number(last.place), id: String(last.run_id) }) : null,
      };
    });
  }

  private async visible(tx: Tx, caller: Caller, id: string): Promise<Answer> {
    const parameters = new Parameters();
    const [row] = await tx.query(
      `SELECT ${COLUMNS}, ${visible(caller, parameters)} AS visible FROM bulk_actions b
       WHERE b.bulk_action_id = ${parameters.add(id)}`,
      parameters.values,
    );
    if (!row) throw new Problem('not_found', `There is no bulk action ${id}`);
    const { visible: mayRead, ...action } = row;
    if (mayRead !== true)
      throw new Problem('forbidden', `Bulk action ${id} is somebody else's; they or an admin may read it`);
    return answer(action);
  }

  private async read<T>(
    caller: Caller,
    atLeast: string | undefined,
    work: (tx: Tx) => Promise<T>,
  ): Promise<T> {
    if (atLeast !== undefined && !(await positionReached(this.db, BULK, atLeast, POSITION_WITHIN_MS)))
      throw new Problem('unavailable', `The rows do not reflect position ${atLeast} yet; ask again`, {
        retryAfterSeconds: 1,
      });
    return this.db.inOrg(caller.org, work);
  }
}

const fitting = (caller: Caller, action: BulkKind, filter: BulkFilter, parameters: Parameters): string =>
  `${conditions(caller, filter, parameters)} AND ${FITTING[action]}`;

/** One's own; admins and operators see all of their org. */
const visible = (caller: Caller, { add }: Parameters): string =>
  seesAll(caller) ? 'true' : `b.requested_by = ${add(caller.actor)}`;
