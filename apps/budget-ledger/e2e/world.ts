import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { BUDGET_EVENTS, DEFAULT_BOUNDS, parseSubject, subjectOf } from '@runyard/contracts';
import type {
  BudgetEvent,
  BudgetRow,
  Caller,
  Context,
  NewEvent,
  ReserveAnswer,
  SpendLine,
  SpendReport,
} from '@runyard/contracts';
import { connectEventLog, decodeEvents } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { NatsRpcClient, startService } from '@runyard/service';
import { eventually, fixedClock, freshDatabase, startNats } from '@runyard/testing';
import type { FixedClock, TestDatabase, TestNats } from '@runyard/testing';
import { BudgetLedgerModule } from '../src/budget-ledger.module';
import { UnbornReservations } from '../src/handlers/unborn.process';
import { BUDGET_LEDGER_MIGRATIONS } from '../src/migrations';

const META = { actor: 'system:spec', source: 'spec' } as const;

export const line = (over: Partial<SpendLine> = {}): SpendLine => ({
  modelId: 'fast',
  model: 'fast-1',
  provider: 'recorded',
  tier: 'fast',
  calls: 1,
  input: 100,
  output: 20,
  cached: 0,
  estimated: 0,
  ...over,
});

interface End {
  owner: string;
  agentId?: string;
  lines?: SpendLine[];
  children?: number;
  root?: string;
}

/** Real servers, a clock that stands still, and as many ledgers as a spec starts. */
export class World {
  readonly clock: FixedClock = fixedClock('2026-11-30T00:00:00Z');
  readonly org = randomUUID();
  readonly fenced: string[] = [];
  private readonly ledgers = new Set<INestApplicationContext>();

  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    readonly connection: NatsConnection,
  ) {}

  static async start(timeZone = 'Europe/Berlin'): Promise<World> {
    const nats = await startNats();
    const database = await freshDatabase([
      { service: 'budget-ledger', migrations: BUDGET_LEDGER_MIGRATIONS },
    ]);
    const bus = await connectEventLog({ servers: nats.url, name: 'spec' });
    const world = new World(nats, database, bus, await connect({ servers: nats.url }));
    await world.append('people', 'org', [{ type: 'OrganizationCreated', data: { name: 'Org', timeZone } }]);
    return world;
  }

  async ledger(): Promise<INestApplicationContext> {
    const service = {
      nats: { servers: [this.nats.url] },
      database: {
        url: this.database.urlFor('budget-ledger'),
        acrossUrl: this.database.acrossUrlFor('budget-ledger'),
        poolSize: 4,
      },
      ops: null,
      logLevel: 'silent' as const,
      rpcConcurrency: 256,
      shutdownMs: 5_000,
    };
    const app = await startService(
      BudgetLedgerModule.forRoot({ service }, { processMetrics: false }, () => this.clock.now()),
    );
    this.ledgers.add(app);
    return app;
  }

  async end(app: INestApplicationContext): Promise<void> {
    this.ledgers.delete(app);
    await app.close();
  }

  async stop(): Promise<void> {
    await Promise.all([...this.ledgers].map((app) => this.end(app)));
    await this.connection.close();
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  caller(over: Partial<Caller> = {}): Caller {
    return { org: this.org, actor: 'system:run-executor', userId: null, roles: [], ...over };
  }

  call<O>(method: string, input: unknown, caller: Caller = this.caller()): Promise<O> {
    return new NatsRpcClient(this.connection).call<O>('budget-ledger', method, caller, input, {
      timeoutMs: 20_000,
    });
  }

  reserve(owner: string, runId: string, tokens: number, smallest = 1): Promise<ReserveAnswer> {
    return this.call('budgets.reserve', { run_id: runId, owner_id: owner, tokens, smallest });
  }

  budget(owner: string): Promise<BudgetRow> {
    return this.call('budgets.get', { owner_id: owner });
  }

  report(input: object): Promise<SpendReport> {
    return this.call('spend.report', input);
  }

  setCap(tokens: number | null, owner?: string): Promise<{ etag: string }> {
    return this.call('budgets.set_cap', { tokens, ...(owner && { owner_id: owner }) });
  }

  /** A run as the executor's log has it. */
  async queued(runId: string, { owner, agentId = 'agent', root = runId }: End): Promise<void> {
    await this.append('runs', runId, [
      {
        type: 'RunQueued',
        data: {
          agentId,
          agentVersion: 1,
          ownerId: owner,
          userId: owner,
          requestedBy: `user:${owner}`,
          trigger: root === runId ? 'manual' : 'delegated',
          parentRunId: root === runId ? null : root,
          rootRunId: root,
          depth: root === runId ? 0 : 1,
          conversationId: null,
          tier: 'fast',
          requestDigest: '',
          input: { text: 'go' },
          definition: '',
          settings: { bounds: DEFAULT_BOUNDS, mode: 'auto', approvalPolicy: 'park' },
          grantTokens: 1_000,
          previousRunId: null,
          slot: null,
        },
      },
    ]);
  }

  async ended(runId: string, end: End): Promise<void> {
    const lines = end.lines ?? [line()];
    const own = lines.reduce((sum, one) => sum + one.input + one.output, 0);
    const spend = { lines, own, children: end.children ?? 0 };
    await this.append('runs', runId, [{ type: 'RunSucceeded', data: { output: { text: 'done' }, spend } }]);
  }

  /** A run from its beginning to its end. */
  async ran(runId: string, end: End): Promise<void> {
    await this.queued(runId, end);
    await this.ended(runId, end);
  }

  async append(context: Context, id: string, events: NewEvent[]): Promise<string> {
    const subject = subjectOf(context, this.org, id);
    const expected = await this.bus.log.lastSequence(subject);
    const at = this.clock.now();
    const { sequence } = await this.bus.log.append({ subject, expected, events, meta: META, at });
    return `${sequence}.0`;
  }

  /** Everything in the stream of budgets, by aggregate. */
  async budgetEvents(): Promise<{ id: string; events: BudgetEvent[] }[]> {
    const { lastSequence } = await this.bus.log.state('BUDGETS');
    const commits: { id: string; events: BudgetEvent[] }[] = [];
    if (lastSequence === 0) return commits;
    const signal = new AbortController();
    for await (const raw of this.bus.log.tail('BUDGETS', { after: 0, signal: signal.signal })) {
      const batch = JSON.parse(Buffer.from(raw.body).toString('utf8'));
      const { events } = decodeEvents({ ...raw, events: batch }, BUDGET_EVENTS);
      commits.push({ id: parseSubject(raw.subject)?.id ?? '', events: events as BudgetEvent[] });
      if (raw.sequence === lastSequence) signal.abort();
    }
    return commits;
  }

  /** What an owner has settled, once the reaction has come to it. */
  settled(owner: string, tokens: number): Promise<unknown> {
    return eventually(async () => {
      const row = await this.budget(owner);
      return row.settled === tokens && row;
    });
  }

  /** The owner's budget once that much is reserved. */
  reservedIs(owner: string, tokens: number): Promise<BudgetRow> {
    return eventually(async () => {
      const row = await this.budget(owner);
      return row.reserved === tokens && row;
    });
  }

  /** Positions of BUDGETS that rows must have reached. */
  async written(): Promise<string> {
    return `${(await this.bus.log.state('BUDGETS')).lastSequence}.0`;
  }

  sweep(app: INestApplicationContext): Promise<number> {
    return app.get(UnbornReservations, { strict: false }).pass(0);
  }
}
