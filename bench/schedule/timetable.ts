import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { jetstreamManager } from '@nats-io/jetstream';
import type { JetStreamManager } from '@nats-io/jetstream';
import type { INestApplicationContext } from '@nestjs/common';
import { subjectOf, userAggregate } from '@runyard/contracts';
import type { AgentCreated, Context, NewEvent } from '@runyard/contracts';
import { connectEventLog } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { startService } from '@runyard/service';
import { Client } from 'pg';
import { SCHEDULER_DEFAULTS } from '../../apps/scheduler/src/config';
import { SCHEDULER_MIGRATIONS } from '../../apps/scheduler/src/migrations';
import { SchedulerModule } from '../../apps/scheduler/src/scheduler.module';
import { startStack } from '../../deploy/local/stack';
import type { Stack } from '../../deploy/local/stack';
import { throwawayFolder } from '../../deploy/local/throwaway';
import type { ScheduleOptions } from './options';

/** Every agent's slot: daily at this time, in the org's zone. */
const AT = '06:00';
const AGENTS_AT_ONCE = 64;
const LOOK_MS = 50;

/** Servers of their own, agents that are all due at one instant, and schedulers whose clock the benchmark sets. */
export class Timetable {
  private readonly org = randomUUID();
  private readonly owner = randomUUID();
  /** What the schedulers' clock is ahead of the real one; milliseconds. */
  private ahead = 0;
  private schedulers: INestApplicationContext[] = [];

  private constructor(
    private readonly folder: string,
    private readonly stack: Stack,
    private readonly bus: EventLogConnection,
    private readonly streams: JetStreamManager,
    private readonly rows: Client,
  ) {}

  static async open({ durable }: ScheduleOptions): Promise<Timetable> {
    const folder = throwawayFolder('schedule');
    const services = [{ service: 'scheduler', migrations: SCHEDULER_MIGRATIONS }];
    const stack = await startStack({ folder, durable, services });
    const bus = await connectEventLog({ servers: stack.natsUrl, name: 'benchmark' });
    const rows = new Client(stack.ownerUrl);
    await rows.connect();
    return new Timetable(folder, stack, bus, await jetstreamManager(bus.connection), rows);
  }

  async close(): Promise<void> {
    await Promise.all(this.schedulers.map((scheduler) => scheduler.close()));
    await this.rows.end();
    await this.bus.close();
    await this.stack.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** An org, its owner, and that many agents. */
  async fill(agents: number): Promise<void> {
    await this.append('people', 'org', {
      type: 'OrganizationCreated',
      data: { name: 'Org', timeZone: 'UTC' },
    });
    const profile = { email: 'ada@example.org', name: 'Ada', timeZone: null, roles: ['member'] };
    await this.append('people', userAggregate(this.owner), {
      type: 'UserAdded',
      data: { userId: this.owner, ...profile },
    });
    const left = Array.from({ length: agents }, (_, index) => `agent-${index}`).values();
    const work = async () => {
      for (const id of left) await this.append('agents', id, created(this.owner));
    };
    await Promise.all(Array.from({ length: AGENTS_AT_ONCE }, work));
  }

  /** Starts schedulers; resolves when all agents have their next slot. Milliseconds that took. */
  async plan({ agents, schedulers }: ScheduleOptions): Promise<number> {
    const since = performance.now();
    const service = {
      nats: { servers: [this.stack.natsUrl] },
      database: {
        url: this.stack.urlOf('scheduler'),
        acrossUrl: this.stack.acrossUrlOf('scheduler'),
        poolSize: 10,
      },
      ops: null,
      logLevel: 'error' as const,
      rpcConcurrency: 16,
      shutdownMs: 10_000,
    };
    for (let i = 0; i < schedulers; i++) {
      const module = SchedulerModule.forRoot(
        { ...SCHEDULER_DEFAULTS, service },
        { processMetrics: false },
        () => Date.now() + this.ahead,
      );
      this.schedulers.push(await startService(module));
    }
    await until(async () => (await this.planned()) === agents);
    return performance.now() - since;
  }

  /** Moves the clock to just before the slot; resolves when a request for each agent lies on the queue. Lags in ms. */
  async fire(agents: number): Promise<{ lags: number[]; distinct: number }> {
    const { rows } = await this.rows.query<{ due: string }>(
      'SELECT extract(epoch FROM min(next_run_at)) * 1000 AS due FROM scheduler.agent_clocks',
    );
    const before = 1_000;
    const due = Date.now() + before;
    this.ahead = Number(rows[0]?.due) - due;
    await until(async () => (await this.streams.streams.info('REQUESTS')).state.messages >= agents);
    return this.requests(due);
  }

  private async requests(due: number): Promise<{ lags: number[]; distinct: number }> {
    const { first_seq: first, last_seq: last } = (await this.streams.streams.info('REQUESTS')).state;
    const left = Array.from({ length: last - first + 1 }, (_, index) => first + index).values();
    const lags: number[] = [];
    const keys = new Set<string>();
    const work = async () => {
      for (const seq of left) {
        const message = await this.streams.streams.getMessage('REQUESTS', { seq });
        if (!message) continue;
        lags.push(message.time.getTime() - due);
        keys.add(message.json<{ key: string }>().key);
      }
    };
    await Promise.all(Array.from({ length: AGENTS_AT_ONCE }, work));
    return { lags, distinct: keys.size };
  }

  private async planned(): Promise<number> {
    const { rows } = await this.rows.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM scheduler.agent_clocks WHERE next_run_at IS NOT NULL',
    );
    return rows[0]?.n ?? 0;
  }

  private async append(context: Context, id: string, event: NewEvent): Promise<void> {
    await this.bus.log.append({
      subject: subjectOf(context, this.org, id),
      expected: 0,
      events: [event],
      meta: { actor: 'system:benchmark', source: 'benchmark' },
    });
  }
}

function created(ownerId: string): Pick<AgentCreated, 'type' | 'data'> {
  return {
    type: 'AgentCreated',
    data: {
      ownerId,
      version: 1,
      behaviour: {
        prompt: 'Help.',
        modelId: 'fast',
        tools: [],
        bounds: {},
        approvalPolicy: 'park',
        mode: 'ask',
      },
      details: {
        name: 'Agent',
        description: '',
        concurrency: 'agent',
        overlap: 'skip',
        schedule: { type: 'calendar', cadence: 'daily', time: AT },
        meta: {},
      },
      enabled: true,
    },
  };
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
}
