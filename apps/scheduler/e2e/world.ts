import { randomUUID } from 'node:crypto';
import { SCHEDULE_EVENTS, parseSubject, subjectOf, userAggregate } from '@runyard/contracts';
import type { AgentDetails, Context, NewEvent, RunRequest, ScheduleEvent } from '@runyard/contracts';
import { LogUnavailable, connectEventLog, decodeEvents, streamSource } from '@runyard/event-log';
import type { EventLog, EventLogConnection, WorkQueues } from '@runyard/event-log';
import { positionReached, runProjection } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import type { RpcClient } from '@runyard/service';
import { eventually, fixedClock, freshDatabase, startNats } from '@runyard/testing';
import type { FixedClock, TestDatabase, TestNats } from '@runyard/testing';
import { AgentClock } from '../src/handlers/agent-clock.process';
import { DueSlots } from '../src/handlers/due-slots.process';
import { Runs } from '../src/handlers/runs.adapter';
import { SlotLog } from '../src/handlers/slot-log.adapter';
import { SCHEDULER_MIGRATIONS } from '../src/migrations';
import { SCHEDULER_PROJECTIONS } from '../src/projections';
import { ClockQueries } from '../src/projections/clock.queries';
import type { ClockRow } from '../src/projections/clock.queries';

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
class Killed extends LogUnavailable {}

const BEHAVIOUR = {
  prompt: 'Help.',
  modelId: 'fast',
  tools: [],
  bounds: {},
  approvalPolicy: 'park',
  mode: 'ask',
} as const;
const DETAILS: AgentDetails = {
  name: 'A',
  description: '',
  concurrency: 'agent',
  overlap: 'skip',
  schedule: null,
  meta: {},
};
const META = { actor: 'system:spec', source: 'spec' } as const;

/** Real servers, a clock that stands still, and schedulers that can be killed. */
export class World {
  readonly clock: FixedClock = fixedClock('2026-11-30T00:00:00Z');
  readonly org = randomUUID();
  readonly owner = randomUUID();
  /** Every message that lay on REQUESTS. */
  readonly requests: RunRequest[] = [];
  readonly cancelled: unknown[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<void>[] = [];

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    readonly db: Database,
  ) {}

  static async start(options: { project?: boolean } = {}): Promise<World> {
    const nats = await startNats();
    const database = await freshDatabase([{ service: 'scheduler', migrations: SCHEDULER_MIGRATIONS }]);
    const bus = await connectEventLog({ servers: nats.url, name: 'spec' });
    const world = new World(nats, database, bus, database.connect('scheduler', { acrossPoolSize: 12 }));
    await world.begin(options.project ?? true);
    return world;
  }

  private async begin(project: boolean): Promise<void> {
    const { signal } = this.stopping;
    if (project)
      this.running = SCHEDULER_PROJECTIONS.map(({ projection }) =>
        runProjection({
          db: this.db,
          source: streamSource(this.bus.log, projection.stream as 'RUNS'),
          projection,
          signal,
        }),
      );
    await this.bus.queues.consume({
      queue: 'REQUESTS',
      durable: 'spec',
      concurrency: 1,
      handler: async ({ body }) =>
        void this.requests.push(JSON.parse(Buffer.from(body).toString('utf8')) as RunRequest),
    });
    await this.append('people', 'org', [
      { type: 'OrganizationCreated', data: { name: 'Org', timeZone: 'Europe/Berlin' } },
    ]);
    const user = {
      userId: this.owner,
      email: 'a@example.org',
      name: 'Ada',
      timeZone: null,
      roles: ['member'],
    };
    await this.append('people', userAggregate(this.owner), [{ type: 'UserAdded', data: user }]);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  /** Appends at the clock's time. */
  async append(context: Context, id: string, events: NewEvent[]): Promise<string> {
    const subject = subjectOf(context, this.org, id);
    const expected = await this.bus.log.lastSequence(subject);
    const { sequence } = await this.bus.log.append({
      subject,
      expected,
      events,
      meta: META,
      at: this.clock.now(),
    });
    return `${sequence}.0`;
  }

  createAgent(
    id: string,
    schedule: AgentDetails['schedule'],
    more: Partial<AgentDetails> = {},
  ): Promise<string> {
    const details = { ...DETAILS, schedule, ...more };
    return this.append('agents', id, [
      {
        type: 'AgentCreated',
        data: { ownerId: this.owner, version: 1, behaviour: BEHAVIOUR, details, enabled: true },
      },
    ]);
  }
  editAgent(
    id: string,
    schedule: AgentDetails['schedule'],
    more: Partial<AgentDetails> = {},
  ): Promise<string> {
    return this.append('agents', id, [
      { type: 'AgentEdited', data: { details: { ...DETAILS, schedule, ...more } } },
    ]);
  }
  tell(id: string, type: string): Promise<string> {
    return this.append('agents', id, [
      { type, data: type === 'AgentDeleted' ? { history: 'keep' } : { reason: null } },
    ]);
  }
  startRun(runId: string, agentId: string): Promise<string> {
    return this.append('runs', runId, [
      { type: 'RunQueued', data: { agentId, slot: `agent:${this.org}:${agentId}` } },
    ]);
  }
  endRun(runId: string): Promise<string> {
    return this.append('runs', runId, [{ type: 'RunSucceeded', data: { output: { text: 'done' } } }]);
  }

  /** Waits until the rows reflect the log. */
  async caughtUp(): Promise<void> {
    for (const { projection } of SCHEDULER_PROJECTIONS) {
      const { lastSequence } = await this.bus.log.state(projection.stream as 'RUNS');
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
    const log = new SlotLog(mortalLog(this.bus.log, life));
    const call = async (...[, , , input]: Parameters<RpcClient['call']>) => void this.cancelled.push(input);
    const rpc: Pick<RpcClient, 'call'> = { call: call as RpcClient['call'] };
    const clock = new AgentClock({ slots: log, runs: new Runs(mortalQueues(this.bus.queues, life), rpc) });
    const clocks = new ClockQueries(this.db);
    const take = clocks.take.bind(clocks);
    clocks.take = (scan, look) =>
      take(scan, async (rows: ClockRow[]) => {
        if (life.death === 'read' && rows.length) throw new Killed(life.death);
        const looked = await look(rows);
        if (life.death === 'before storing' && rows.length) throw new Killed(life.death);
        return looked;
      });
    const logger = { error: (facts: object) => void this.failures.push(facts) };
    return new DueSlots({ clocks, clock, now: () => this.clock.now(), logger: logger as never });
  }
  readonly failures: object[] = [];

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
    const commits = await this.bus.log.read(subjectOf('schedules', this.org, agentId));
    return commits.flatMap((commit) =>
      (decodeEvents(commit, SCHEDULE_EVENTS).events as ScheduleEvent[]).map(textOf),
    );
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
