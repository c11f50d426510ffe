import { randomUUID } from 'node:crypto';
import { SCHEDULE_EVENTS, subjectOf, userAggregate } from '@runyard/contracts';
import type { AgentDetails, Context, NewEvent, RunRequest, ScheduleEvent } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { positionReached, runProjection } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { ServiceServers, eventually, fixedClock } from '@runyard/testing';
import type { FixedClock } from '@runyard/testing';
import type { DueSlots } from '../src/handlers/due-slots.process';
import { SCHEDULER_MIGRATIONS } from '../src/migrations';
import { SCHEDULER_PROJECTIONS } from '../src/projections';
import { Killed, mortalScheduler } from './mortal-scheduler';
import type { Death, Life } from './mortal-scheduler';
import {
  agentCreated,
  agentEdited,
  agentTold,
  organizationCreated,
  runQueued,
  runSucceeded,
  userAdded,
} from './neighbour-events';

/** Real servers, a clock that stands still, and schedulers that can be killed. */
export class World {
  readonly clock: FixedClock = fixedClock('2026-11-30T00:00:00Z');
  readonly org = randomUUID();
  readonly owner = randomUUID();
  /** Every message that lay on REQUESTS. */
  readonly requests: RunRequest[] = [];
  readonly cancelled: unknown[] = [];
  /** What schedulers have logged as errors. */
  readonly failures: object[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<void>[] = [];

  private constructor(
    readonly servers: ServiceServers,
    readonly db: Database,
  ) {}

  static async start(options: { project?: boolean } = {}): Promise<World> {
    const servers = await ServiceServers.start({ service: 'scheduler', migrations: SCHEDULER_MIGRATIONS });
    const world = new World(servers, servers.database.connect('scheduler', { acrossPoolSize: 12 }));
    await world.begin(options.project ?? true);
    return world;
  }

  private async begin(project: boolean): Promise<void> {
    const { signal } = this.stopping;
    if (project)
      this.running = SCHEDULER_PROJECTIONS.map(({ projection }) =>
        runProjection({
          db: this.db,
          source: streamSource(this.servers.bus.log, projection.stream as 'RUNS'),
          projection,
          signal,
        }),
      );
    await this.servers.takeRequests(async (request) => void this.requests.push(request));
    await this.append('people', 'org', [organizationCreated]);
    await this.append('people', userAggregate(this.owner), [userAdded(this.owner)]);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
    await this.servers.stop();
  }

  /** Appends at the clock's time. */
  append(context: Context, id: string, events: NewEvent[]): Promise<string> {
    return this.servers.append({ context, org: this.org, id }, events, this.clock.now());
  }

  createAgent(
    id: string,
    schedule: AgentDetails['schedule'],
    more: Partial<AgentDetails> = {},
  ): Promise<string> {
    return this.append('agents', id, [agentCreated(this.owner, { schedule, ...more })]);
  }
  editAgent(
    id: string,
    schedule: AgentDetails['schedule'],
    more: Partial<AgentDetails> = {},
  ): Promise<string> {
    return this.append('agents', id, [agentEdited({ schedule, ...more })]);
  }
  tell(id: string, type: string): Promise<string> {
    return this.append('agents', id, [agentTold(type)]);
  }
  startRun(runId: string, agentId: string): Promise<string> {
    return this.append('runs', runId, [runQueued(agentId, `agent:${this.org}:${agentId}`)]);
  }
  endRun(runId: string): Promise<string> {
    return this.append('runs', runId, [runSucceeded]);
  }

  /** Waits until the rows reflect the log. */
  async caughtUp(): Promise<void> {
    for (const { projection } of SCHEDULER_PROJECTIONS) {
      const { lastSequence } = await this.servers.bus.log.state(projection.stream as 'RUNS');
      if (!(await positionReached(this.db, projection, lastSequence, 60_000)))
        throw new Error(`${projection.name} is behind`);
    }
  }

  /** Waits until that many agents have their next slot. */
  async planned(agents: number): Promise<void> {
    await eventually(
      async () => {
        const [row] = await this.db.acrossOrgs('planned clocks', (tx) =>
          tx.query<{ n: number }>(
            'SELECT count(*)::int AS n FROM agent_clocks WHERE next_run_at IS NOT NULL',
          ),
        );
        return row?.n === agents;
      },
      { withinMs: 60_000 },
    );
  }

  /** A scheduler; one that is to die does so the first time it comes to that point, and does nothing more in that life. */
  scheduler(life: Life = {}): DueSlots {
    const surroundings = {
      bus: this.servers.bus,
      db: this.db,
      now: () => this.clock.now(),
      cancel: (input: unknown) => void this.cancelled.push(input),
      fail: (facts: object) => void this.failures.push(facts),
    };
    return mortalScheduler(surroundings, life);
  }

  /** One pass of a scheduler that may be killed in it. */
  async pass(death?: Death, scheduler = this.scheduler({ death })): Promise<'done' | 'killed'> {
    try {
      await scheduler.pass();
      return 'done';
    } catch (error) {
      if (error instanceof Killed) return 'killed';
      throw error;
    }
  }

  /** What was decided about an agent's slots, in order: `SlotRequested 2026-11-30T05:00`. */
  async decided(agentId: string): Promise<string[]> {
    const subject = subjectOf('schedules', this.org, agentId);
    return (await this.servers.events<ScheduleEvent>(subject, SCHEDULE_EVENTS)).map(textOf);
  }

  async requestsOf(agentId: string, count: number): Promise<RunRequest[]> {
    const found = () => this.requests.filter((request) => request.agent_id === agentId);
    await eventually(() => found().length >= count);
    return found();
  }
}

function textOf(event: ScheduleEvent): string {
  const time = (at: number) => new Date(at).toISOString().slice(0, 16);
  if (event.type === 'SlotsMissed') return `SlotsMissed ${event.data.count}`;
  return [event.type, time(event.data.slot), event.type === 'SlotNotRun' ? event.data.reason : '']
    .join(' ')
    .trim();
}
