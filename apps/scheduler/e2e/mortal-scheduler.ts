import { parseSubject } from '@runyard/contracts';
import { LogUnavailable } from '@runyard/event-log';
import type { EventLog, EventLogConnection, WorkQueues } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import type { RpcClient } from '@runyard/service';
import { AgentClock } from '../src/handlers/agent-clock.process';
import { DueSlots } from '../src/handlers/due-slots.process';
import { Runs } from '../src/handlers/runs.adapter';
import { SlotLog } from '../src/handlers/slot-log.adapter';
import { ClockQueries } from '../src/projections/clock.queries';
import type { ClockRow } from '../src/projections/clock.queries';

/** Spec-only. A scheduler that dies between any two things that it does about a due slot. */

/** Everything that can happen between reading a due slot and storing the next one; a scheduler dies there. */
export const DEATHS = [
  'read',
  'before append',
  'after append',
  'before request',
  'after request',
  'before storing',
] as const;
export type Death = (typeof DEATHS)[number];

/** Where a scheduler dies in its present life, and whether it has. What it remembers outlives it: so does a paused process. */
export interface Life {
  death?: Death;
  dead?: boolean;
}

/** What a killed process leaves undone: its transaction rolls back, as the server does when a connection is gone. */
export class Killed extends LogUnavailable {}

/** What a mortal scheduler works on, and what it says. */
export interface Surroundings {
  bus: EventLogConnection;
  db: Database;
  now: () => number;
  /** Instead of the executor that would cancel a run. */
  cancel: (input: unknown) => void;
  fail: (facts: object) => void;
}

/** One that is to die does so the first time it comes to that point, and does nothing more in that life. */
export function mortalScheduler({ bus, db, now, cancel, fail }: Surroundings, life: Life): DueSlots {
  const call = async (...[, , , input]: Parameters<RpcClient['call']>) => cancel(input);
  const rpc: Pick<RpcClient, 'call'> = { call: call as RpcClient['call'] };
  const clock = new AgentClock({
    slots: new SlotLog(mortalLog(bus.log, life)),
    runs: new Runs(mortalQueues(bus.queues, life), rpc),
  });
  const logger = { error: fail };
  return new DueSlots({ clocks: mortalClocks(db, life), clock, now, logger: logger as never });
}

function mortalClocks(db: Database, life: Life): ClockQueries {
  const clocks = new ClockQueries(db);
  const take = clocks.take.bind(clocks);
  clocks.take = (scan, look) =>
    take(scan, async (rows: ClockRow[]) => {
      if (life.death === 'read' && rows.length) throw new Killed(life.death);
      const looked = await look(rows);
      if (life.death === 'before storing' && rows.length) throw new Killed(life.death);
      return looked;
    });
  return clocks;
}

function mortalLog(log: EventLog, life: Life): Pick<EventLog, 'read' | 'append'> {
  return {
    read: (subject, after) => log.read(subject, after),
    async append(commit) {
      if (life.dead || parseSubject(commit.subject)?.context !== 'schedules') throw new Killed('dead');
      if (life.death === 'before append') throw new Killed(life.death);
      const appended = await log.append(commit);
      life.dead = life.death === 'after append';
      if (life.dead) throw new Killed('after append');
      return appended;
    },
  };
}

function mortalQueues(queues: WorkQueues, life: Life): Pick<WorkQueues, 'publish'> {
  return {
    async publish(subject, body, headers) {
      if (life.death === 'before request') throw new Killed(life.death);
      const stored = await queues.publish(subject, body, headers);
      if (life.death === 'after request') throw new Killed(life.death);
      return stored;
    },
  };
}
