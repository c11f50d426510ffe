import type { Actor, BulkResult, Caller } from '@runyard/contracts';
import type { Database, Session } from '@runyard/persistence';
import { underWay } from '../domain/bulk-action';
import type { BulkAction, OpenBulkAction } from '../domain/bulk-action';
import type { BulkCommand } from '../domain/bulk-decisions';
import type { BulkFilter, BulkQueries } from '../projections/bulk.queries';
import { openBulkActions, takeBulkPlace } from '../projections/open-bulk-actions.queries';
import type { BulkLog } from './bulk-log.adapter';
import { isEverybodys } from './bulk-orders.process';
import type { BulkOrders } from './bulk-orders.process';

/** Ids in a commit of chosen runs: far below what a commit may hold. */
const CHOSEN_AT_ONCE = 2_000;
/** Runs that are begun together, and recorded together. */
const BEGUN_AT_ONCE = 64;
/** Runs that are told at the same time. */
const TOLD_AT_ONCE = 16;

export interface BulkPorts {
  db: Database;
  bulkLog: BulkLog;
  bulkQueries: Pick<BulkQueries, 'choose'>;
  orders: Pick<BulkOrders, 'carryOut'>;
  log: { warn(facts: object, message: string): void };
}

/** An action of an org, as it stands in its log. */
interface Place {
  org: string;
  id: string;
}

/**
 * Carries bulk actions out, a part of each in turn. Invariants:
 * 1. A run is told only after `BulkRunsBegun` has named it, and nothing else is begun before its result is in the log: after
 *    a crash it is known which runs are in doubt.
 * 2. Results are appended under the expectation that those runs have none: two processes cannot both record them.
 * 3. One process at a time holds the place; it is lost with the process. What is done by one that has lost it without
 *    knowing is covered by 2 and by the runs' own logs.
 */
export class BulkActions {
  private place: Session | undefined;
  private stopped = false;
  /** How many runs this process itself has begun, by action, since it took the place. */
  private readonly begunHere = new Map<string, number>();
  private readonly complained = new Set<string>();

  constructor(private readonly ports: BulkPorts) {}

  /** Works until no action is open, or another process does. */
  async round(signal?: AbortSignal): Promise<void> {
    const finished = new Set<string>();
    for (;;) {
      const open = (await openBulkActions(this.ports.db)).filter(({ id }) => !finished.has(id));
      if (open.length === 0 && finished.size === 0) return this.leave();
      if (open.length === 0 || signal?.aborted || !(await this.enter())) return;
      await Promise.all(
        open.map(async (action) => {
          if (await this.goOn(action)) finished.add(action.id);
        }),
      );
    }
  }

  /** Gives the place up, if this process has it. */
  async leave(): Promise<void> {
    const { place } = this;
    this.place = undefined;
    this.begunHere.clear();
    await place?.close();
  }

  /** Gives the place up for good: a round that is under way takes it no more. */
  async stop(): Promise<void> {
    this.stopped = true;
    await this.leave();
  }

  private async enter(): Promise<boolean> {
    if (this.place?.lost.aborted) await this.leave();
    if (!this.stopped) this.place ??= await takeBulkPlace(this.ports.db);
    if (this.stopped) await this.leave();
    return this.place !== undefined;
  }

  /** True: nothing is left to do here. An action that cannot be gone on with keeps no other from it. */
  private async goOn(place: Place): Promise<boolean> {
    try {
      return await this.isOver(place);
    } catch (error) {
      if (isEverybodys(error)) throw error;
      if (!this.complained.has(place.id))
        this.ports.log.warn({ err: error, ...place }, 'a bulk action cannot be gone on with');
      this.complained.add(place.id);
      return true;
    }
  }

  /** One step of an action; true: it has ended. */
  private async isOver(place: Place): Promise<boolean> {
    const action = await this.ports.bulkLog.read(place.org, place.id);
    if (action.situation !== 'open') return true;
    const command = await this.step(place, action);
    const { state, events } = await this.ports.bulkLog.decide(place.org, place.id, command);
    if (events.some(({ type }) => type === 'BulkRunsBegun')) this.begunHere.set(place.id, begunIn(state));
    if (state.situation === 'open') return false;
    this.begunHere.delete(place.id);
    return true;
  }

  private async step(place: Place, action: OpenBulkAction): Promise<BulkCommand> {
    const runs = underWay(action);
    if (runs.length > 0) {
      const inDoubt = this.begunHere.get(place.id) !== action.begun;
      const results = await this.tellAll(place, action, runs, inDoubt);
      return { type: 'RecordResults', from: action.handled, results, most: BEGUN_AT_ONCE };
    }
    if (action.chosen || action.abort) return { type: 'GoOn', most: BEGUN_AT_ONCE };
    const runIds = await this.choose(place.org, action);
    const complete = runIds.length < CHOSEN_AT_ONCE;
    return { type: 'ChooseRuns', after: action.runIds.length, runIds, complete, most: BEGUN_AT_ONCE };
  }

  private choose(org: string, action: OpenBulkAction): Promise<string[]> {
    const { wish, runIds, startedAt } = action;
    const asked = { action: wish.action, filter: wish.filter as BulkFilter };
    const page = { after: runIds.at(-1), before: startedAt, limit: CHOSEN_AT_ONCE };
    return this.ports.bulkQueries.choose(callerOf(org, action), asked, page);
  }

  private async tellAll(
    { org, id }: Place,
    action: OpenBulkAction,
    runIds: readonly string[],
    inDoubt: boolean,
  ): Promise<BulkResult[]> {
    const order = { bulkActionId: id, action: action.wish.action, caller: callerOf(org, action), inDoubt };
    const results: BulkResult[] = [];
    for (let from = 0; from < runIds.length; from += TOLD_AT_ONCE) {
      const told = runIds.slice(from, from + TOLD_AT_ONCE);
      results.push(
        ...(await Promise.all(told.map((runId) => this.ports.orders.carryOut({ ...order, runId })))),
      );
    }
    return results;
  }
}

/** In the name and with the roles of whoever asked, as they were then. */
const callerOf = (org: string, { wish, askedBy }: OpenBulkAction): Caller => ({
  org,
  actor: askedBy as Actor,
  userId: wish.userId,
  roles: wish.roles,
});

const begunIn = (action: BulkAction): number => (action.situation === 'absent' ? 0 : action.begun);
