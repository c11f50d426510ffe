import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  listSchedulesSchema,
  nextRunsSchema,
  parseWith,
  previewScheduleSchema,
  upcomingSlotsSchema,
} from '@runyard/contracts';
import type { Caller, NextRunsAnswer, SlotRow, UpcomingRow } from '@runyard/contracts';
import { positionReached } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import type { ClockRow } from '../projections/clock.queries';
import { ClockQueries } from '../projections/clock.queries';
import { nextSlotBeyond, preview, zoneOf } from '../timetable/next-slot';
import { planAnew } from '../timetable/plan';
import { SCHEDULER_CLOCK } from '../types';

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 2_000;
const AGENTS_READ = { name: 'scheduler-agents', version: 1, stream: 'AGENTS' };
const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
const seesAll = ({ roles }: Caller): boolean => roles.includes('admin') || roles.includes('operator');

/** RPC `schedules.*`: when agents will run. Changes nothing. */
@Injectable()
export class SchedulesController {
  constructor(
    @Inject(ClockQueries) private readonly clocks: ClockQueries,
    @Inject(DATABASE) private readonly db: Database,
    @Inject(SCHEDULER_CLOCK) private readonly now: () => number,
  ) {}

  /** Any schedule, saved or not. Throws `invalid_request` for one that never fires. */
  @RpcMethod('schedules.preview')
  async preview(caller: Caller, body: unknown): Promise<{ data: SlotRow[] }> {
    const { schedule, time_zone: asked, from, count } = parseWith(previewScheduleSchema, body);
    const zone = asked ?? (await this.clocks.zoneOf(caller.org, caller.userId)) ?? 'UTC';
    const wall = zoneOf(schedule, { ownerZone: zone, orgZone: zone });
    return { data: preview(schedule, wall, from === undefined ? this.now() : Date.parse(from), count) };
  }

  @RpcMethod('schedules.upcoming')
  async upcoming(caller: Caller, body: unknown): Promise<UpcomingRow> {
    const { agent_id: id, at_least: atLeast, count } = parseWith(upcomingSlotsSchema, body);
    if (atLeast !== undefined) await positionReached(this.db, AGENTS_READ, atLeast, BRIEFLY_MS);
    const [row] = await this.clocks.find(caller.org, [id]);
    if (!row) throw new Problem('not_found', 'There is no such agent');
    if (!seesAll(caller) && row.ownerId !== caller.userId)
      throw new Problem('forbidden', 'The agent belongs to somebody else');
    const next = this.nextOf(row);
    const slots = next === null || row.schedule === null ? [] : this.slotsFrom(row, next, count);
    return { agent_id: id, next_run_at: iso(next), waiting_since: iso(row.deferred), slots };
  }

  /** As `upcoming`, for as many agents as a page has, without their slots. */
  @RpcMethod('schedules.next_runs')
  async nextRuns(caller: Caller, body: unknown): Promise<NextRunsAnswer> {
    const { agent_ids: ids, at_least: atLeast } = parseWith(nextRunsSchema, body);
    if (atLeast !== undefined) await positionReached(this.db, AGENTS_READ, atLeast, BRIEFLY_MS);
    const rows = await this.clocks.find(caller.org, ids);
    const seen = rows.filter(({ ownerId }) => seesAll(caller) || ownerId === caller.userId);
    return { data: seen.map((row) => ({ agent_id: row.agentId, next_run_at: iso(this.nextOf(row)) })) };
  }

  @RpcMethod('schedules.list')
  async list(caller: Caller, body: unknown): Promise<{ data: { agent_id: string; next_run_at: string }[] }> {
    const { limit } = parseWith(listSchedulesSchema, body);
    if (!seesAll(caller) && caller.userId === null)
      throw new Problem('forbidden', 'The credential stands for nobody who owns agents');
    const rows = await this.clocks.list(caller.org, seesAll(caller) ? null : caller.userId, limit);
    return {
      data: rows.map(({ agentId, next }) => ({
        agent_id: agentId,
        next_run_at: new Date(next).toISOString(),
      })),
    };
  }

  /** As planned; where the plan is out of date, as it will be planned. One that is due and not decided is passed over. */
  private nextOf(row: ClockRow): number | null {
    const now = this.now();
    const { next } = row.stale ? planAnew(row, row, now) : row;
    if (next === null || next > now || row.schedule === null) return next;
    return nextSlotBeyond(row.schedule, { ...row, after: next }, now);
  }

  private slotsFrom(row: ClockRow, next: number, count: number): SlotRow[] {
    const { schedule } = row;
    if (schedule === null) return [];
    const from = schedule.type === 'interval' ? next - schedule.every_hours * 3_600_000 : next - 1;
    return preview(schedule, zoneOf(schedule, row), from, count);
  }
}
