import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { BudgetRow, CapRow, Caller, ForecastRow } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { METRICS } from '@runyard/service';
import type { Metrics } from '@runyard/service';
import { eventually } from '@runyard/testing';
import { BUDGET_LEDGER_PROJECTIONS } from '../src/projections';
import { World, line } from './world';

jest.setTimeout(120_000);

let world: World;
let first: INestApplicationContext;
beforeAll(async () => {
  world = await World.start();
  first = await world.ledger();
  await world.ledger();
});
afterAll(() => world?.stop());

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
let counter = 0;
const runId = (): string => `run_${++counter}`;

describe('reserving', () => {
  it('lets exactly ten of 64 starts in where there is room for ten, at two ledgers', async () => {
    const owner = randomUUID();
    await world.setCap(10_000, owner);
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => world.reserve(owner, runId(), 1_000, 1_000)),
    );
    const outcomes = answers.map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'granted')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'refused')).toHaveLength(54);
    expect(await world.budget(owner)).toMatchObject({ reserved: 10_000, left: 0 });
  });

  it('gives the last one the smaller grant where it can begin with it', async () => {
    const owner = randomUUID();
    await world.setCap(10_500, owner);
    const answers = await Promise.all(
      Array.from({ length: 64 }, () => world.reserve(owner, runId(), 1_000, 300)),
    );
    const granted = answers.filter(({ outcome }) => outcome === 'granted');
    expect(granted.map(({ tokens }) => tokens).toSorted((a, b) => a - b)).toEqual([
      500,
      ...Array.from({ length: 10 }, () => 1_000),
    ]);
    expect(granted.filter(({ cut }) => cut)).toHaveLength(1);
  });

  it('answers the same to the same run, however often and wherever it asks, also after a restart', async () => {
    const owner = randomUUID();
    const run = runId();
    const answers = await Promise.all(Array.from({ length: 5 }, () => world.reserve(owner, run, 700)));
    expect(new Set(answers.map(({ tokens }) => tokens))).toEqual(new Set([700]));
    const another = await world.ledger();
    await world.end(first);
    first = another;
    expect(await world.reserve(owner, run, 99)).toMatchObject({ outcome: 'granted', tokens: 700 });
    expect(await world.budget(owner)).toMatchObject({ reserved: 700, cap: null, left: null });
  });

  it('is for parts of the platform alone', async () => {
    const person: Caller = world.caller({ actor: 'user:x', roles: ['admin'] });
    const input = { run_id: runId(), owner_id: randomUUID(), tokens: 1, smallest: 1 };
    expect(await codeOf(world.call('budgets.reserve', input, person))).toBe('forbidden');
  });
});

describe('settling by the ends of runs', () => {
  it('counts a whole tree for its root’s owner, once, with a line a run and model (P6.4)', async () => {
    const owner = randomUUID();
    const [root, child] = [runId(), runId()];
    await world.reserve(owner, root, 1_000);
    await world.queued(root, { owner });
    await world.ran(child, {
      owner: randomUUID(),
      root,
      agentId: 'helper',
      lines: [line({ input: 50, output: 5 })],
    });
    expect(await world.budget(owner)).toMatchObject({ settled: 0, reserved: 1_000 });
    await world.ended(root, {
      owner,
      children: 55,
      lines: [line(), line({ modelId: 'deep', tier: 'deep' })],
    });
    await world.settled(owner, 295);
    expect(await world.budget(owner)).toMatchObject({ reserved: 0 });
    const { data } = await world.report({
      owner_id: owner,
      group_by: ['agent', 'model'],
      at_least: await world.written(),
    });
    expect(data.map((row) => [row.agent_id, row.model_id, row.total_tokens])).toEqual([
      ['agent', 'deep', 120],
      ['agent', 'fast', 120],
      ['helper', 'fast', 55],
    ]);
  });

  it('C35 loses and doubles nothing when the database cuts the reaction off (BerriAI/litellm#35531)', async () => {
    const owner = randomUUID();
    const runs = Array.from({ length: 100 }, runId);
    const cutting = { on: true };
    const cuts = (async () => {
      const db = world.database.connect('budget-ledger');
      while (cutting.on) {
        await db
          .acrossOrgs('spec: cut everybody off', (tx) =>
            tx.query(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND usename = current_user AND pid <> pg_backend_pid()`,
            ),
          )
          .catch(() => undefined);
        await new Promise((resolve) => setTimeout(resolve, 40));
      }
    })();
    for (const run of runs) await world.ran(run, { owner });
    cutting.on = false;
    await cuts;
    await eventually(async () => (await world.budget(owner)).settled === 100 * 120, { withinMs: 60_000 });
    const commits = await world.budgetEvents();
    const settlements = commits
      .filter(({ id }) => id.startsWith(`week-${owner}`))
      .flatMap(({ events }) => events.filter(({ type }) => type === 'BudgetSettled'));
    expect(settlements).toHaveLength(100);
  });

  it('gives back what was reserved for a run that never came, after the executor has fenced it (P2.6)', async () => {
    const owner = randomUUID();
    const run = runId();
    const service = world.connection.subscribe('runyard.rpc.run-executor.runs.fence', {
      callback: (_error, message) => {
        const { run_id: fenced } = message.json<{ input: { run_id: string } }>().input;
        world.fenced.push(fenced);
        const error = { code: 'request_lost', text: '' };
        const stale = { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error } };
        void world
          .append('runs', fenced, [stale])
          .then(() => message.respond(JSON.stringify({ ok: true, value: {} })));
      },
    });
    await world.reserve(owner, run, 500);
    await world.reserve(owner, 'run_alive', 400);
    await world.queued('run_alive', { owner });
    await eventually(async () => {
      await world.sweep(first);
      return (await world.budget(owner)).reserved === 400;
    });
    expect(world.fenced).toContain(run);
    expect(world.fenced).not.toContain('run_alive');
    expect(await world.reserve(owner, run, 500)).toMatchObject({ outcome: 'closed', tokens: 0 });
    service.unsubscribe();
  });
});

describe('as of an earlier moment', () => {
  it('tells how weeks stood at a position and at a time, with the cap that held', async () => {
    const [owner, later] = [randomUUID(), randomUUID()];
    const [done, open] = [runId(), runId()];
    const then = async (asOf: string, input: object = { week: '2026-11-29' }) =>
      world.call<BudgetRow>('budgets.get', { owner_id: owner, as_of: asOf, ...input });
    await world.setCap(2_000, owner);
    await world.reserve(owner, done, 1_000);
    const reserved = await world.written();
    const atReserved = new Date().toISOString();
    await world.queued(done, { owner });
    await world.ended(done, { owner });
    await world.settled(owner, 120);
    const settled = await world.written();
    await world.setCap(500, owner);
    await world.reserve(later, open, 10);
    expect(await then(reserved)).toMatchObject({ cap: 2_000, settled: 0, reserved: 1_000, left: 1_000 });
    expect(await then(settled)).toMatchObject({ cap: 2_000, settled: 120, reserved: 0, left: 1_880 });
    expect(await then(atReserved)).toMatchObject({ settled: 0, reserved: 1_000 });
    expect(await then(await world.written())).toEqual(
      await world.call('budgets.get', { owner_id: owner, week: '2026-11-29' }),
    );
    const page = await world.call<{ data: BudgetRow[] }>('budgets.list', {
      week: '2026-11-29',
      as_of: settled,
    });
    const standing = new Map(page.data.map((row) => [row.owner_id, row]));
    expect(standing.get(owner)).toMatchObject({ cap: 2_000, settled: 120, reserved: 0 });
    expect(standing.has(later)).toBe(false);
    expect(await codeOf(then('2020-01-01T00:00:00Z'))).toBe('not_found');
    expect(await codeOf(then('99999999.0'))).toBe('invalid_request');
    const member = world.caller({ actor: `user:${later}`, userId: later, roles: ['member'] });
    const others = world.call('budgets.get', { owner_id: owner, as_of: settled }, member);
    expect(await codeOf(others)).toBe('forbidden');
  });

  it('tells what goes on from an ended week, where nobody has opened the next one', async () => {
    const [owner, idle] = [randomUUID(), randomUUID()];
    const today = world.clock.now();
    world.clock.set('2026-11-20T00:00:00Z');
    await world.reserve(owner, runId(), 700);
    world.clock.set(new Date(today).toISOString());
    const now = new Date().toISOString();
    const then = (input: object) => world.call<BudgetRow>('budgets.get', { as_of: now, ...input });
    const carried = { week: '2026-11-22', state: 'open', reserved: 700, settled: 0 };
    // Rows may come a moment later than the answer.
    await eventually(async () => (await then({ owner_id: owner, week: '2026-11-15' })).reserved === 700);
    expect(await then({ owner_id: owner })).toMatchObject(carried);
    expect(await then({ owner_id: idle })).toMatchObject({ state: 'open', reserved: 0, settled: 0 });
  });
});

describe('caps and reports', () => {
  const admin = (): Caller => world.caller({ actor: 'user:x', userId: randomUUID(), roles: ['admin'] });

  it('holds the default for all but those with a cap of their own, and a change for the next start', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const set = await world.call<CapRow>('budgets.set_cap', { tokens: 1_000 }, admin());
    expect(set).toMatchObject({ owner_id: null, tokens: 1_000, source: 'default' });
    await world.setCap(50, other);
    expect((await world.reserve(one, runId(), 900, 900)).outcome).toBe('granted');
    expect((await world.reserve(other, runId(), 900, 900)).outcome).toBe('refused');
    await world.call('budgets.clear_cap', { owner_id: other });
    expect((await world.reserve(other, runId(), 900, 900)).outcome).toBe('granted');
    const stale = { tokens: 5, if_match: String(Number(set.etag) + 7) };
    expect(await codeOf(world.call('budgets.set_cap', stale, admin()))).toBe('version_mismatch');
    const member = world.caller({ actor: `user:${one}`, userId: one, roles: ['member'] });
    expect(await codeOf(world.call('budgets.set_cap', { tokens: 5 }, member))).toBe('forbidden');
    expect(await codeOf(world.call('budgets.get', { owner_id: other }, member))).toBe('forbidden');
    expect(await world.call('budgets.get', {}, member)).toMatchObject({
      cap: 1_000,
      reserved: 900,
      left: 100,
    });
    await world.call('budgets.set_cap', { tokens: null, if_match: set.etag }, admin());
  });

  it('derives money from the price that held when the root ended, and names it', async () => {
    const owner = randomUUID();
    const price = { currency: 'USD', input: '1.00', output: '10', cached: '0.10' };
    const model = {
      modelId: 'priced',
      label: '',
      tier: 'fast',
      provider: { kind: 'recorded', recording: 'r' },
      model: 'm',
      contextWindow: 1,
      maxOutputTokens: 1,
      fallbacks: [],
      prices: [
        { ...price, validFrom: '2026-01-01T00:00:00Z' },
        { ...price, input: '2.5', validFrom: '2026-11-30T12:00:00Z' },
      ],
    };
    await world.append('catalogue', 'models', [{ type: 'ModelAllowed', data: { model } }]);
    const spent = line({ modelId: 'priced', input: 1_000, cached: 400, output: 100 });
    world.clock.set('2026-11-30T11:59:59Z');
    await world.ran(runId(), { owner, lines: [spent] });
    world.clock.set('2026-11-30T12:00:00Z');
    await world.ran(runId(), { owner, lines: [spent, line()] });
    await world.settled(owner, 2_320);
    const report = await eventually(async () => {
      const found = await world.report({
        owner_id: owner,
        group_by: ['day'],
        at_least: await world.written(),
      });
      return found.prices.length === 2 && found;
    });
    // 600 x 1 + 400 x 0.1 + 100 x 10, and 600 x 2.5 + 400 x 0.1 + 100 x 10, a million tokens each.
    expect(report.data).toMatchObject([
      { day: '2026-11-30', runs: 2, calls: 3, total_tokens: 2_320, unpriced_tokens: 120 },
    ]);
    expect(report.data[0]?.money).toEqual([{ currency: 'USD', amount: '0.00418' }]);
    expect(report.prices.map(({ input, valid_from: from }) => [input, from])).toEqual([
      ['1.00', '2026-01-01T00:00:00.000Z'],
      ['2.5', '2026-11-30T12:00:00.000Z'],
    ]);
    const { data } = await world.call<{ data: ForecastRow[] }>('spend.forecast', { owner_id: owner });
    expect(data).toMatchObject([
      { owner_id: owner, settled: 2_320, tokens_per_day: 331, cap_reached_at: null },
    ]);
    expect(data[0]?.expected).toBeGreaterThan(2_320);
  });

  it('lists running weeks by owner, page by page', async () => {
    const seen: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await world.call<{ data: BudgetRow[]; next_cursor: string | null }>('budgets.list', {
        limit: 2,
        ...(cursor && { cursor }),
      });
      seen.push(...page.data.map((row) => row.owner_id));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen).size).toBe(seen.length);
    expect(seen).toEqual(seen.toSorted());
  });
});

it.each(BUDGET_LEDGER_PROJECTIONS.map((verified) => [verified.projection.name, verified] as const))(
  'rows of %s equal their replay',
  async (_name, { projection, schema, tables }) => {
    const source = streamSource(world.bus.log, projection.stream as 'BUDGETS');
    const { ownerUrl } = world.database;
    const { tables: compared } = await rebuildAndCompare({ ownerUrl, schema, tables, projection, source });
    expect(compared.map(({ table }) => table)).toEqual(tables);
    for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
  },
);

it('tells how many asked together and what became of them', async () => {
  const text = await first.get<Metrics>(METRICS, { strict: false }).registry.metrics();
  expect(text).toMatch(/runyard_budget_reservations_total\{outcome="granted",service="budget-ledger"\} \d/);
  expect(text).toMatch(/runyard_budget_commands_together_count/);
});
