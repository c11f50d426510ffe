import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { BudgetRow, CapRow, Caller, ForecastRow } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { METRICS } from '@runyard/service';
import type { Metrics } from '@runyard/service';
import { eventually } from '@runyard/testing';
import { BUDGET_LEDGER_PROJECTIONS } from '../src/projections';
import { line } from './run-events';
import { World } from './world';

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
const COLUMNS: Readonly<Record<string, string>> = { owner: 'owner_id', agent: 'agent_id', model: 'model_id' };
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

  it('C31 admits exactly one of eight starts at once where 1,000 of 10,000 are left, and gives back what a lost one held (BerriAI/litellm#34732)', async () => {
    const owner = randomUUID();
    await world.setCap(10_000, owner);
    await world.ran(runId(), { owner, lines: [line({ input: 8_000, output: 1_000 })] });
    await world.settled(owner, 9_000);
    const runs = Array.from({ length: 8 }, runId);
    const answers = await Promise.all(runs.map((run) => world.reserve(owner, run, 800, 800)));
    expect(answers.filter(({ outcome }) => outcome === 'granted')).toHaveLength(1);
    expect(answers.filter(({ outcome }) => outcome === 'refused')).toHaveLength(7);
    expect(await world.budget(owner)).toMatchObject({ settled: 9_000, reserved: 800, left: 200 });
    // Its executor is lost, and whoever finds it closes its run: what it had not spent is there again.
    const holder = runs[answers.findIndex(({ outcome }) => outcome === 'granted')] ?? '';
    await world.queued(holder, { owner });
    const error = { code: 'executor_lost', text: '' };
    const spend = { lines: [line()], own: 120, children: 0 };
    const stale = { type: 'RunFailed', data: { termination: 'Error', reason: 'stale', error, spend } };
    await world.append('runs', holder, [stale]);
    await world.settled(owner, 9_120);
    expect(await world.reserve(owner, runId(), 800, 800)).toMatchObject({ outcome: 'granted', tokens: 800 });
  });

  it('C31 holds the org’s default for owners of whom the ledger has nothing yet, at two ledgers (BerriAI/litellm#34732)', async () => {
    await world.setCap(1_000);
    const owners = Array.from({ length: 4 }, () => randomUUID());
    for (const owner of owners) {
      const answers = await Promise.all(
        Array.from({ length: 8 }, () => world.reserve(owner, runId(), 800, 800)),
      );
      expect(answers.filter(({ outcome }) => outcome === 'granted')).toHaveLength(1);
    }
    await world.setCap(null);
  });

  it('starts nothing under a cap below what is spent, and takes nothing from what goes on', async () => {
    const owner = randomUUID();
    await world.setCap(1_000, owner);
    await world.ran(runId(), { owner, lines: [line({ input: 400, output: 0 })] });
    await world.settled(owner, 400);
    const running = runId();
    await world.reserve(owner, running, 500);
    await world.setCap(300, owner);
    expect(await world.reserve(owner, runId(), 1, 1)).toMatchObject({
      outcome: 'refused',
      weekly_left: -600,
    });
    expect(await world.reserve(owner, running, 500)).toMatchObject({ outcome: 'granted', tokens: 500 });
    await world.queued(running, { owner });
    await world.ended(running, { owner, lines: [line({ input: 450, output: 0 })] });
    await world.settled(owner, 850);
    expect(await world.budget(owner)).toMatchObject({ cap: 300, reserved: 0, left: -550 });
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
      const db = world.servers.database.connect('budget-ledger');
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
    for (const [index, run] of runs.entries()) {
      await world.ran(run, { owner });
      if (index !== 50) continue;
      // One that is asked to stop (SIGTERM) in the midst of it, and its heir.
      await world.end(first);
      first = await world.ledger();
    }
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
    const service = world.servers.connection.subscribe('runyard.rpc.run-executor.runs.fence', {
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

  it('announces 80 and 100 per cent of a cap once each, and again for another cap', async () => {
    const owner = randomUUID();
    const spends = async (tokens: number): Promise<void> => {
      const { settled } = await world.budget(owner);
      await world.ran(runId(), { owner, lines: [line({ input: tokens, output: 0 })] });
      await world.settled(owner, settled + tokens);
    };
    const announced = async () =>
      (await world.budgetEvents())
        .filter(({ id }) => id.startsWith(`week-${owner}`))
        .flatMap(({ events }) =>
          events.flatMap((event) => (event.type === 'CapReached' ? [event.data] : [])),
        );
    await world.setCap(1_000, owner);
    await spends(799);
    expect(await announced()).toEqual([]);
    await spends(1);
    const eighty = { percent: 80, cap: 1_000, settled: 800 };
    expect(await announced()).toEqual([eighty]);
    await world.end(first);
    first = await world.ledger();
    await spends(300);
    const all = { percent: 100, cap: 1_000, settled: 1_100 };
    expect(await announced()).toEqual([eighty, all]);
    await spends(100);
    await world.setCap(1_500, owner);
    // Nothing has ended since: the next start meets the new cap.
    expect(await world.reserve(owner, runId(), 100)).toMatchObject({ outcome: 'granted' });
    expect(await announced()).toEqual([eighty, all, { percent: 80, cap: 1_500, settled: 1_200 }]);
    const rows = await eventually(async () => {
      const page = await world.servers.database
        .connect('budget-ledger')
        .inOrg(world.org, (tx) =>
          tx.query<{ reached_100_at: string | null }>(
            'SELECT reached_100_at FROM budget_weeks WHERE owner_id = $1 AND reached_80_at IS NOT NULL',
            [owner],
          ),
        );
      return page.length === 1 && page;
    });
    expect(rows[0]?.reached_100_at).not.toBeNull();
  });

  it('adds the same spend up by whatever it is asked for: org, owner, agent, model, tier, day and week', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    const deep = line({ modelId: 'deep', tier: 'deep', input: 1_000, output: 0 });
    world.clock.set('2027-01-09T12:00:00Z');
    await world.ran(runId(), { owner: one, agentId: 'x', lines: [line(), deep] });
    await world.ran(runId(), { owner: other, agentId: 'x' });
    await world.settled(other, 120);
    await world.settled(one, 1_120);
    // Sunday in Berlin: another day and another week.
    world.clock.set('2027-01-10T12:00:00Z');
    await world.ran(runId(), { owner: one, agentId: 'y' });
    await world.settled(one, 120);
    const at_least = await world.written();
    const by = async (...group_by: string[]) => {
      const { data } = await world.report({ group_by, from: '2027-01-09', to: '2027-01-11', at_least });
      expect(data.reduce((sum, row) => sum + row.total_tokens, 0)).toBe(1_360);
      return data.map((row) => [
        ...group_by.map((group) => row[(COLUMNS[group] ?? group) as 'day'] as string),
        row.total_tokens,
        row.runs,
      ]);
    };
    expect(await by()).toEqual([[1_360, 3]]);
    const owners = [
      [one, 1_240, 2],
      [other, 120, 1],
    ];
    expect(await by('owner')).toEqual(owners.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
    expect(await by('agent')).toEqual([
      ['x', 1_240, 2],
      ['y', 120, 1],
    ]);
    expect(await by('model', 'tier')).toEqual([
      ['deep', 'deep', 1_000, 1],
      ['fast', 'fast', 360, 3],
    ]);
    expect(await by('day')).toEqual([
      ['2027-01-09', 1_240, 2],
      ['2027-01-10', 120, 1],
    ]);
    expect(await by('week')).toEqual([
      ['2027-01-03', 1_240, 2],
      ['2027-01-10', 120, 1],
    ]);
    const mine = world.caller({ actor: `user:${other}`, userId: other, roles: ['member'] });
    const own = await world.call<{ data: { total_tokens: number }[] }>('spend.report', { at_least }, mine);
    expect(own.data.map(({ total_tokens }) => total_tokens)).toEqual([120]);
    world.clock.set('2026-11-30T00:00:00Z');
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
    const source = streamSource(world.servers.bus.log, projection.stream as 'BUDGETS');
    const { ownerUrl } = world.servers.database;
    const { tables: compared } = await rebuildAndCompare({ ownerUrl, schema, tables, projection, source });
    expect(compared.map(({ table }) => table)).toEqual(tables);
    for (const one of compared) expect(one).toMatchObject({ missing: 0, extra: 0 });
  },
);

it('tells how many asked together and what became of them', async () => {
  const granted = /runyard_budget_reservations_total\{outcome="granted",service="budget-ledger"\} \d/;
  const owner = randomUUID();
  // Any of the ledgers answers; sooner or later it is this one.
  const text = await eventually(async () => {
    await world.reserve(owner, runId(), 1);
    const metrics = await first.get<Metrics>(METRICS, { strict: false }).registry.metrics();
    return granted.test(metrics) && metrics;
  });
  expect(text).toMatch(/runyard_budget_commands_together_count/);
});
