import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  forecastSchema,
  getBudgetSchema,
  listBudgetsSchema,
  parseWith,
  spendSchema,
  isoTime,
} from '@runyard/contracts';
import type { BudgetRow, Caller, ForecastRow, SpendReport } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { weekAt } from '../calendar/weeks';
import { forecast } from '../domain/forecast';
import { capFor } from '../domain/caps';
import { budgetsReached, findWeek, listWeeks, settledSince } from '../projections/budget.queries';
import type { WeekStanding } from '../projections/budget.queries';
import { MOST_ROWS, spendReport } from '../projections/spend.queries';
import { LEDGER_CLOCK } from '../types';
import { BudgetLog } from './budget-log.adapter';
import { budgetRow } from './budget-row';
import { ownerCursor } from './owner-cursor';
import { PastBudgets } from './past-budgets';
import { orgOf, sightOf } from './rights';
import { Weeks } from './weeks.process';

const DAY_MS = 86_400_000;

/** RPC `budgets.get`, `budgets.list`, `spend.report` and `spend.forecast`. Owners see their own, admins and operators all. */
@Injectable()
export class SpendController {
  private readonly past: PastBudgets;

  constructor(
    @Inject(BudgetLog) private readonly budgets: BudgetLog,
    @Inject(Weeks) private readonly weeks: Weeks,
    @Inject(DATABASE) private readonly db: Database,
    @Inject(LEDGER_CLOCK) private readonly now: () => number,
  ) {
    this.past = new PastBudgets(db, (org) => budgets.zone(org));
  }

  /** The running week from the log, to the token; an earlier one from rows; as of an earlier moment from the archive. */
  @RpcMethod('budgets.get')
  async get(caller: Caller, body: unknown): Promise<BudgetRow> {
    const { owner_id: asked, week, as_of: asOf } = parseWith(getBudgetSchema, body);
    const org = orgOf(caller);
    const ownerId = sightOf(caller, asked) ?? caller.userId;
    if (ownerId === null) throw new Problem('invalid_request', 'Name an owner: owner_id');
    if (asOf !== undefined) return this.past.one(org, asOf, ownerId, week);
    const standing =
      week === undefined
        ? await this.running(org, ownerId)
        : await this.db.inOrg(org, (tx) => findWeek(tx, ownerId, week));
    if (!standing) throw new Problem('not_found', 'The owner has no such week');
    return this.row(org, standing);
  }

  @RpcMethod('budgets.list')
  async list(caller: Caller, body: unknown): Promise<{ data: BudgetRow[]; next_cursor: string | null }> {
    const { limit, cursor, week, at_least: atLeast, as_of: asOf } = parseWith(listBudgetsSchema, body);
    const org = orgOf(caller);
    const ownerId = sightOf(caller, undefined);
    if (asOf !== undefined) {
      const page = { week, ownerId, after: ownerCursor(cursor), most: limit };
      const { data, next } = await this.past.page(org, asOf, page);
      return { data, next_cursor: next };
    }
    await budgetsReached(this.db, atLeast);
    const which = week === undefined ? { at: this.now() } : { week };
    const page = { ownerId, after: ownerCursor(cursor), most: limit + 1 };
    const found = await this.db.inOrg(org, (tx) => listWeeks(tx, { ...which, ...page }));
    const data = await Promise.all(found.slice(0, limit).map((standing) => this.row(org, standing)));
    return { data, next_cursor: found.length > limit ? (data.at(-1)?.owner_id ?? null) : null };
  }

  @RpcMethod('spend.report')
  async report(caller: Caller, body: unknown): Promise<SpendReport> {
    const input = parseWith(spendSchema, body);
    const ownerId = sightOf(caller, input.owner_id);
    await budgetsReached(this.db, input.at_least);
    const filter = {
      from: input.from ?? null,
      to: input.to ?? null,
      ownerId,
      agentId: input.agent_id ?? null,
      modelId: input.model_id ?? null,
    };
    const report = await this.db.inOrg(orgOf(caller), (tx) => spendReport(tx, input.group_by, filter));
    if (report.data.length > MOST_ROWS)
      throw new Problem('invalid_request', `The report has more than ${MOST_ROWS} rows; narrow it`);
    return report;
  }

  /** Running weeks and where they are heading. */
  @RpcMethod('spend.forecast')
  async forecast(caller: Caller, body: unknown): Promise<{ data: ForecastRow[] }> {
    const { owner_id: asked } = parseWith(forecastSchema, body);
    const org = orgOf(caller);
    const ownerId = sightOf(caller, asked);
    const now = this.now();
    const { standings, lately } = await this.db.inOrg(org, async (tx) => ({
      standings: await listWeeks(tx, { at: now, ownerId, after: null, most: MOST_ROWS }),
      lately: await settledSince(tx, now - 7 * DAY_MS),
    }));
    const rows = standings.map(async (standing) => {
      const row = await this.row(org, standing);
      const { tokensPerDay, expected, capReachedAt } = forecast({
        now,
        ends: standing.place.end,
        settled: standing.settled,
        lately: lately.get(standing.ownerId) ?? 0,
        cap: row.cap,
      });
      const reached = capReachedAt === null ? null : isoTime(capReachedAt);
      return { ...row, tokens_per_day: tokensPerDay, expected, cap_reached_at: reached };
    });
    return { data: await Promise.all(rows) };
  }

  private async running(org: string, ownerId: string): Promise<WeekStanding> {
    const found = await this.weeks.look(org, ownerId, this.now());
    if (found) return { ownerId, ...found };
    const place = weekAt(this.now(), await this.budgets.zone(org));
    return { ownerId, place, state: 'open', settled: 0, reserved: 0 };
  }

  private async row(org: string, standing: WeekStanding): Promise<BudgetRow> {
    return budgetRow(standing, capFor(await this.budgets.caps(org), standing.ownerId).tokens);
  }
}
