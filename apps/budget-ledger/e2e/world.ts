import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { BUDGET_EVENTS, parseSubject } from '@runyard/contracts';
import type {
  BudgetEvent,
  BudgetRow,
  Caller,
  Context,
  NewEvent,
  ReserveAnswer,
  SpendReport,
} from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { startService } from '@runyard/service';
import { ServiceServers, eventually, fixedClock } from '@runyard/testing';
import type { FixedClock } from '@runyard/testing';
import { BudgetLedgerModule } from '../src/budget-ledger.module';
import { UnbornReservations } from '../src/handlers/unborn.process';
import { BUDGET_LEDGER_MIGRATIONS } from '../src/migrations';
import { runQueued, runSucceeded } from './run-events';
import type { End } from './run-events';

/** Real servers, a clock that stands still, and as many ledgers as a spec starts. */
export class World {
  readonly clock: FixedClock = fixedClock('2026-11-30T00:00:00Z');
  readonly org = randomUUID();
  readonly fenced: string[] = [];
  private readonly ledgers = new Set<INestApplicationContext>();

  private constructor(readonly servers: ServiceServers) {}

  static async start(timeZone = 'Europe/Berlin'): Promise<World> {
    const schema = { service: 'budget-ledger', migrations: BUDGET_LEDGER_MIGRATIONS };
    const world = new World(await ServiceServers.start(schema));
    await world.append('people', 'org', [{ type: 'OrganizationCreated', data: { name: 'Org', timeZone } }]);
    return world;
  }

  async ledger(): Promise<INestApplicationContext> {
    const service = this.servers.config({ rpcConcurrency: 256 });
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
    await this.servers.stop();
  }

  caller(over: Partial<Caller> = {}): Caller {
    return { org: this.org, actor: 'system:run-executor', userId: null, roles: [], ...over };
  }

  call<O>(method: string, input: unknown, caller: Caller = this.caller()): Promise<O> {
    return this.servers.call<O>(method, caller, input, 20_000);
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

  async queued(runId: string, end: End): Promise<void> {
    await this.append('runs', runId, [runQueued(runId, end)]);
  }

  async ended(runId: string, end: End): Promise<void> {
    await this.append('runs', runId, [runSucceeded(end)]);
  }

  /** A run from its beginning to its end. */
  async ran(runId: string, end: End): Promise<void> {
    await this.queued(runId, end);
    await this.ended(runId, end);
  }

  /** Appends at the clock's time. */
  append(context: Context, id: string, events: NewEvent[]): Promise<string> {
    return this.servers.append({ context, org: this.org, id }, events, this.clock.now());
  }

  /** Everything in the stream of budgets, by aggregate. */
  async budgetEvents(): Promise<{ id: string; events: BudgetEvent[] }[]> {
    const { lastSequence } = await this.servers.bus.log.state('BUDGETS');
    const commits: { id: string; events: BudgetEvent[] }[] = [];
    if (lastSequence === 0) return commits;
    const signal = new AbortController();
    for await (const raw of this.servers.bus.log.tail('BUDGETS', { after: 0, signal: signal.signal })) {
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
    return `${(await this.servers.bus.log.state('BUDGETS')).lastSequence}.0`;
  }

  sweep(app: INestApplicationContext): Promise<number> {
    return app.get(UnbornReservations, { strict: false }).pass(0);
  }
}
