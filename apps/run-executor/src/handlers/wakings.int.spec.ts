import { Problem, subjectOf } from '@runyard/contracts';
import type { RunEvent } from '@runyard/contracts';
import { eventually } from '@runyard/testing';
import { expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, ORG, World } from './e2e/world';

jest.setTimeout(180_000);

/** What runs hold while they wait for people, and what they get when they go on (P5.6). */

const GRANT = 200_000;
const USED = 15;
const SCRIPT: Script = {
  model: (_request, step) => (step > 1 ? { text: 'done' } : calls(['write', '{"n":1}'])),
  tool: () => ok('written'),
};

let world: World;
let door: TestExecutor;
beforeAll(async () => {
  world = await World.create({ behaviour: { mode: 'ask', approvalPolicy: 'park' } });
  door = await TestExecutor.start(world, SCRIPT);
});
afterAll(() => world[Symbol.asyncDispose]());
beforeEach(() => {
  world.budgets.cap = null;
  world.budgets.away = undefined;
  world.budgets.held.clear();
});

const held = (runId: string) => world.budgets.held.get(runId)?.tokens;
const holds = (runId: string, tokens: number) =>
  eventually(() => held(runId) === tokens, { withinMs: 30_000 });
const asksIn = async (runId: string) =>
  ofType(await world.events(runId), 'ApprovalRequested').map(({ data }) => data);

/** A run that waits for a decision and holds no more than it has used. */
async function parked(key: string): Promise<string> {
  const runId = await world.start(key);
  await world.logged(runId, 'RunAwaitingApproval');
  await holds(runId, USED);
  return runId;
}

async function approve(runId: string): Promise<void> {
  for (const { approvalId, callId, argumentsDigest, groupKey } of await asksIn(runId)) {
    const subject = subjectOf('approvals', ORG, approvalId);
    const expected = await world.bus.log.lastSequence(subject);
    const rest = { arguments: null, message: null, wholeGroup: false, groupKey, ruleId: null };
    const data = { runId, callId, verdict: 'approve', argumentsDigest, ...rest };
    const events = [{ type: 'ApprovalDecided', data }];
    if (expected > 0) continue;
    await world.bus.log.append({
      subject,
      expected,
      events,
      meta: { actor: 'user:reviewer', source: 'approvals' },
    });
  }
}

const recovered = (events: readonly RunEvent[]) => ofType(events, 'RunRecovered').at(-1)?.data;

it('holds what it has used while people are asked, and takes the rest anew before it goes on', async () => {
  const runId = await parked('days');
  await approve(runId);
  await world.ended(runId);
  const events = await expectSound(world, runId, 'days');
  expect(recovered(events)).toMatchObject({ budget: { grantTokens: GRANT, weeklyTokens: null } });
  expect(held(runId)).toBe(GRANT);
  expect(events.at(-1)?.type).toBe('RunSucceeded');
});

it('goes on with less where others have used the week meanwhile', async () => {
  world.budgets.cap = 300_000;
  const runId = await parked('less');
  world.budgets.held.set('others', { tokens: 250_000, cut: false });
  await approve(runId);
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
  const events = await world.events(runId);
  expect(recovered(events)).toMatchObject({ budget: { grantTokens: 50_000, weeklyTokens: 50_000 } });
  expect(ofType(events, 'BudgetSnapshotTaken').at(-1)?.data).toMatchObject({
    tokens: 50_000 - USED,
    weeklyTokens: 50_000 - USED,
  });
});

it('ends weekly_budget where the week has nothing left, and what was allowed is not carried out', async () => {
  world.budgets.cap = 300_000;
  const runId = await parked('nothing');
  world.budgets.held.set('others', { tokens: 300_000 - USED, cut: false });
  await approve(runId);
  expect(await world.ended(runId)).toMatchObject({
    type: 'RunFailed',
    data: { termination: 'BudgetExceeded', reason: 'weekly_budget', spend: { own: USED } },
  });
  expect(world.outside.toolsOf(runId)).toEqual([]);
  const events = await expectSound(world, runId, 'nothing');
  expect(ofType(events, 'ToolCallCancelled')).toHaveLength(1);
});

it('waits for a ledger that is away, on the way in and on the way out', async () => {
  const runId = await world.start('away');
  world.budgets.away = new Problem('unavailable', 'budget-ledger is not running; try again shortly');
  await world.logged(runId, 'RunAwaitingApproval');
  const tried = world.budgets.changes.length;
  world.budgets.away = undefined;
  await holds(runId, USED);
  expect(world.budgets.changes.length).toBeGreaterThan(tried);
  world.budgets.away = new Problem('unavailable', 'budget-ledger is not running; try again shortly');
  await approve(runId);
  await world.logged(runId, 'CallApproved');
  await eventually(() => door.executor.drivers.free === 64);
  expect(await world.types(runId)).not.toContain('RunRecovered');
  world.budgets.away = undefined;
  expect(await world.ended(runId, 60_000)).toMatchObject({ type: 'RunSucceeded' });
});

it('takes a paused run for one that waits for people', async () => {
  const runId = await parked('paused');
  await door.controls.pause(CALLER, { run_id: runId });
  await world.logged(runId, 'RunPaused');
  await door.controls.resume(CALLER, { run_id: runId });
  await eventually(async () => recovered(await world.events(runId))?.budget?.grantTokens === GRANT);
  await holds(runId, USED);
  await approve(runId);
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
  expect(held(runId)).toBe(GRANT);
});

it('a word about the park that comes late takes nothing from the run that goes on', async () => {
  const runId = await parked('late');
  await approve(runId);
  await world.ended(runId);
  const late = world.budgets.changes.find((one) => one.runId === runId && one.reason === 'parked');
  const spender = { org: ORG, runId, ownerId: 'x' };
  await world.budgets.change(spender, USED, 'parked', late?.at ?? 0);
  expect(held(runId)).toBe(GRANT);
});

it('gets its budget once, wherever its executor dies', async () => {
  const tap = new CrashTap(Infinity);
  await woken('whole', tap);
  for (const at of tap.moments.keys()) {
    const runId = await woken(`crash ${at}`, new CrashTap(at));
    const events = await expectSound(world, runId, `crash ${at}`);
    expect({ at, sent: world.outside.toolsOf(runId).length <= 1 }).toEqual({ at, sent: true });
    expect({ at, held: held(runId), end: events.at(-1)?.type }).toEqual({
      at,
      held: GRANT,
      end: 'RunSucceeded',
    });
  }
  await expectQuiet(world, [door]);
});

/** A run whose waking is driven by an executor that `tap` kills. */
async function woken(key: string, tap: CrashTap): Promise<string> {
  const executor = await TestExecutor.start(world, null, { works: false, tap });
  const runId = world.runId(key);
  await executor.take(world.requestFor(key)).catch(() => door.take(world.requestFor(key)));
  await eventually(
    async () => {
      await approve(runId);
      if (executor.alive) await executor.hear(runId).catch(() => undefined);
      return (await world.types(runId)).includes('RunSucceeded');
    },
    { withinMs: 60_000, everyMs: 30 },
  );
  if (executor.alive) await executor.stop();
  return runId;
}
