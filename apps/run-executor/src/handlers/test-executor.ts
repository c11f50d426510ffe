import { randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import type { AgentBehaviour, AgentDetails, AllowedModel, CatalogueTool, IntakeAnswer, NewEvent, RunEvent, RunRequest } from '@runyard/contracts';
import { MODELS_ID, REPLY_HEADER, requestSubject, subjectOf, TOOLS_ID, userAggregate } from '@runyard/contracts';
import type { Context } from '@runyard/contracts';
import { connectEventLog, streamSource } from '@runyard/event-log';
import type { EventLogConnection, QueueConsumer } from '@runyard/event-log';
import { archiveProjection, runProjection } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { createLogger } from '@runyard/service';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import type { ExecutorConfig } from '../config';
import { RUN_MIGRATIONS } from '../migrations';
import type { ModelAdapter, ModelRequest, ModelTurn } from '../models/types';
import { runsProjection } from '../projections/runs.projection';
import type { ToolCall, ToolResult } from '../tools/types';
import { assemble } from './assembly.process';
import type { Executor } from './assembly.process';
import { eventsOf } from './run-log.adapter';

/** Spec-only: the executor on real servers, with a scripted model and counting tools. */

export const ORG = '0b5c2f6e-4d53-4b0e-9a53-7d1a4f0f9a01';
export const OWNER = '0b5c2f6e-4d53-4b0e-9a53-7d1a4f0f9a02';

export interface Script {
  model: (request: ModelRequest, step: number) => Promise<Partial<ModelTurn>> | Partial<ModelTurn>;
  tool: (call: ToolCall) => Promise<ToolResult> | ToolResult;
}

const TURN: ModelTurn = {
  text: null,
  reasoning: null,
  toolCalls: [],
  providerReason: 'stop',
  finish: 'stop',
  usage: { input: 10, output: 5, cached: 0, estimated: false },
  model: 'model-1',
  providerState: null,
};

export const calls = (...list: [tool: string, args: string][]): Partial<ModelTurn> => ({
  toolCalls: list.map(([tool, args], index) => ({ providerCallId: `p${index}`, tool, arguments: args })),
});

const toolRow = (name: string, effect: 'read' | 'write', idempotent: boolean): CatalogueTool => ({
  name,
  description: name,
  inputSchema: { type: 'object' },
  effect,
  idempotent,
  source: { kind: 'builtin', name },
  timeoutMs: 10_000,
  endsRun: false,
  agentsAllowed: true,
});

const MODEL: AllowedModel = {
  modelId: 'm1',
  label: 'Model',
  tier: 'fast',
  provider: { kind: 'recorded', recording: 'none' },
  model: 'model-1',
  contextWindow: 1_000_000,
  maxOutputTokens: 1_000,
  prices: [],
  fallbacks: [],
};

/** One executor of possibly several on the same servers. */
export class TestExecutor {
  readonly modelCalls: { runId: string; messages: number }[] = [];
  readonly toolCalls: ToolCall[] = [];
  private consumers: QueueConsumer[] = [];
  private readonly timers: NodeJS.Timeout[] = [];

  private constructor(
    readonly bus: EventLogConnection,
    readonly db: Database,
    readonly executor: Executor,
  ) {}

  static async start(world: World, script: Script, config: Partial<ExecutorConfig> = {}): Promise<TestExecutor> {
    const bus = await connectEventLog({ servers: world.nats.url, name: 'executor' });
    const db = world.database.connect('run-executor');
    const counted: { self?: TestExecutor } = {};
    const executor = assemble({
      config: { ...CONFIG, ...config },
      log: bus.log,
      queues: bus.queues,
      connection: bus.connection,
      db,
      logger: createLogger('test', 'silent'),
      models: () => adapterOf(script, (runId, messages) => counted.self?.modelCalls.push({ runId, messages })),
      tools: {
        run: async (call) => {
          counted.self?.toolCalls.push(call);
          return script.tool(call);
        },
        discover: () => Promise.reject(new Error('not used')),
        close: () => Promise.resolve(),
      },
    });
    const self = new TestExecutor(bus, db, executor);
    counted.self = self;
    await self.join();
    return self;
  }

  private async join(): Promise<void> {
    const { presence, drivers, intake, work, sweep, operations } = this.executor;
    presence.join((id, epoch) => drivers.drivesAt(id, epoch), (id) => drivers.wake(id));
    const every = (ms: number, task: () => Promise<void>) => {
      let busy = false;
      this.timers.push(
        setInterval(() => {
          if (busy) return;
          busy = true;
          void task().catch(() => undefined).finally(() => void (busy = false));
        }, ms),
      );
    };
    every(300, () => sweep.drivers());
    every(500, () => sweep.overdue());
    every(500, () => drivers.check());
    every(1_000, () => operations.heartbeat(drivers.runIds(), presence.instance));
    this.consumers = [await intake.start(), await work.start()];
  }

  /** As if the process was killed: nothing is recorded any more, nobody answers for it. */
  async die(): Promise<void> {
    this.timers.forEach(clearInterval);
    await this.bus.connection.close();
  }

  async stop(): Promise<void> {
    this.timers.forEach(clearInterval);
    await Promise.all(this.consumers.map((consumer) => consumer.stop()));
    await this.executor.drivers.stop();
    this.executor.presence.leave();
    await this.bus.close();
  }
}

function adapterOf(script: Script, count: (runId: string, messages: number) => void): ModelAdapter {
  return {
    async call(request) {
      count('', request.messages.length);
      const step = request.messages.filter((message) => message.role === 'assistant').length + 1;
      const turn = await Promise.race([Promise.resolve(script.model(request, step)), aborted(request.signal)]);
      if (turn === 'aborted')
        return { ok: false, failure: { code: 'cancelled', text: 'aborted', status: null, retryable: false, retryAfterMs: null, partialText: null, usage: null } };
      const toolCalls = turn.toolCalls ?? [];
      return { ok: true, turn: { ...TURN, ...(toolCalls.length ? { finish: 'tool_calls' as const } : {}), ...turn } };
    },
  };
}

const aborted = (signal: AbortSignal): Promise<'aborted'> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('aborted'), { once: true }));

const CONFIG = {
  places: 64,
  intakeConcurrency: 16,
  http: { allowedHosts: [], allowPrivate: false },
  stdioCommands: [],
  pauseTtlMs: 60_000,
  projections: true,
  drive: true,
} as unknown as ExecutorConfig;

/** Servers, a seeded org and its rows; executors join and leave. */
export class World implements AsyncDisposable {
  private readonly stopProjecting = new AbortController();
  private projecting: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    readonly db: Database,
  ) {}

  static async create(details: Partial<AgentDetails> = {}, behaviour: Partial<AgentBehaviour> = {}): Promise<World> {
    const nats = await startNats();
    const database = await freshDatabase([{ service: 'run-executor', migrations: RUN_MIGRATIONS }]);
    const bus = await connectEventLog({ servers: nats.url, name: 'test' });
    const world = new World(nats, database, bus, database.connect('run-executor'));
    await world.seed(details, behaviour);
    world.project();
    return world;
  }

  get connection(): NatsConnection {
    return this.bus.connection;
  }

  /** Asks for a run over the bus and waits for intake's answer. */
  async request(key: string, body: Partial<RunRequest> = {}): Promise<IntakeAnswer> {
    const inbox = `_INBOX.test.${randomUUID()}`;
    const reply = this.connection.subscribe(inbox, { max: 1, timeout: 20_000 });
    const request = { key, agent_id: 'agent', input: 'hello', requested_by: `user:${OWNER}`, trigger: 'manual', ...body };
    await this.bus.queues.publish(requestSubject(ORG), request, { [REPLY_HEADER]: inbox });
    for await (const message of reply) return message.json<IntakeAnswer>();
    throw new Error('no answer');
  }

  async start(key: string, body: Partial<RunRequest> = {}): Promise<string> {
    const answer = await this.request(key, body);
    if (!answer.ok) throw new Error(`${answer.code}: ${answer.message}`);
    return answer.run_id;
  }

  async events(runId: string): Promise<RunEvent[]> {
    return eventsOf(await this.bus.log.read(subjectOf('runs', ORG, runId)));
  }

  async types(runId: string): Promise<string[]> {
    return (await this.events(runId)).map((event) => event.type);
  }

  /** Waits for the run's terminal event. */
  ended(runId: string, withinMs = 20_000): Promise<RunEvent> {
    return eventually(
      async () => (await this.events(runId)).find((event) => ['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped'].includes(event.type)),
      { withinMs },
    );
  }

  /** The run's row once it reflects the end of its log. */
  async row(runId: string): Promise<Record<string, unknown>> {
    const sequence = await this.bus.log.lastSequence(subjectOf('runs', ORG, runId));
    return eventually(async () => {
      const rows = await this.db.inOrg(ORG, (tx) => tx.query('SELECT * FROM agent_runs WHERE run_id = $1', [runId]));
      return rows.find((row) => Number(row.sequence) >= sequence);
    });
  }

  async append(context: Context, id: string, events: NewEvent[]): Promise<void> {
    const subject = subjectOf(context, ORG, id);
    const expected = await this.bus.log.lastSequence(subject);
    await this.bus.log.append({ subject, expected, events, meta: { actor: 'system:test', source: 'test' } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopProjecting.abort();
    await this.projecting;
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  private async seed(details: Partial<AgentDetails>, behaviour: Partial<AgentBehaviour>): Promise<void> {
    const person = { userId: OWNER, email: 'o@example.org', name: 'Owner', timeZone: null, roles: ['member'] };
    await this.append('people', userAggregate(OWNER), [{ type: 'UserAdded', data: person }]);
    await this.append('catalogue', MODELS_ID, [{ type: 'ModelAllowed', data: { model: MODEL } }]);
    const tools = [toolRow('look', 'read', true), toolRow('put', 'write', true), toolRow('write', 'write', false)];
    await this.append('catalogue', TOOLS_ID, tools.map((tool) => ({ type: 'ToolRegistered', data: { tool } })));
    const data = {
      ownerId: OWNER,
      version: 1,
      enabled: true,
      behaviour: { prompt: 'Be brief.', modelId: 'm1', tools: tools.map((tool) => tool.name), bounds: {}, approvalPolicy: 'park', mode: 'auto', ...behaviour },
      details: { name: 'Agent', description: '', concurrency: 'unlimited', overlap: 'skip', schedule: null, meta: {}, ...details },
    };
    await this.append('agents', 'agent', [{ type: 'AgentCreated', data }]);
  }

  private project(): void {
    const source = streamSource(this.bus.log, 'RUNS');
    const { signal } = this.stopProjecting;
    this.projecting = Promise.all(
      [archiveProjection('RUNS'), runsProjection()].map((projection) => runProjection({ db: this.db, source, projection, signal })),
    );
  }
}
