import { z } from 'zod';
import { agentRefSchema, agentSlug, positionSchema } from '../agents/agent.requests';
import { scheduleSchema, timeZoneSchema } from '../agents/schedule.requests';
import { timeSchema } from '../storable';

/** Most slots in one answer. */
export const MOST_SLOTS = 100;

const count = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(MOST_SLOTS, `must be at most ${MOST_SLOTS}`)
  .default(10);

/** `schedules.preview`: the next slots of a schedule that need not be saved. */
export const previewScheduleSchema = z.strictObject({
  schedule: scheduleSchema,
  /** Zone of a calendar's times; default: the caller's own, else the organization's. */
  time_zone: timeZoneSchema.optional(),
  /** Default: now. An interval counts from here. */
  from: timeSchema().optional(),
  count,
});
export type PreviewSchedule = z.infer<typeof previewScheduleSchema>;

/** `schedules.upcoming`: the next slots of an agent. */
export const upcomingSlotsSchema = agentRefSchema.extend({ count });
/** `schedules.next_runs`: when agents run next, for answers that name them. */
export const nextRunsSchema = z.strictObject({
  agent_ids: z.array(agentSlug).max(200, 'must be at most 200 agents'),
  at_least: positionSchema.optional(),
});
/** `schedules.list`: next runs, soonest first. */
export const listSchedulesSchema = z.strictObject({
  limit: z
    .int('must be a whole number')
    .min(1, 'must be at least 1')
    .max(200, 'must be at most 200')
    .default(50),
});

/** A slot as it is answered. */
export interface SlotRow {
  /** RFC 3339, UTC. */
  at: string;
  /** The same instant on the wall clock of `time_zone`. */
  local: string;
  time_zone: string;
  /** `gap`: the asked-for time does not exist that day, so it is the first instant after; `fold`: it exists twice, this is the first. */
  mark: 'gap' | 'fold' | null;
}

/** What `schedules.next_runs` answers; agents that the caller may not see, or that are not there, are left out. */
export interface NextRunsAnswer {
  data: { agent_id: string; next_run_at: string | null }[];
}

export interface UpcomingRow {
  agent_id: string;
  /** Null: by hand only, or a start condition is closed, or the schedule never fires. */
  next_run_at: string | null;
  /** A slot that waits for a run to end. */
  waiting_since: string | null;
  slots: SlotRow[];
}
