import { archiveSource, rebuildAndCompare } from '@runyard/persistence';
import { eventually } from '@runyard/testing';
import { bulkActionsProjection } from '../projections/bulk-actions.projection';
import { RunQueries } from '../projections/run.queries';
import { BulkDoor } from './e2e/bulk-doors';
import { inBranches } from './e2e/branches';
import { parkedRuns } from './e2e/parked-runs';
import { CrashTap, GateTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(300_000);

const never = new Promise<never>(() => undefined);
const OTHER = '7a6b7c8d-1111-4222-8333-444455556666';
const STRANGER = { ...CALLER, userId: OTHER, actor: `user:${OTHER}` } as const;
const ADMIN = { ...STRANGER, roles: ['admin' as const] };

let world: World;
/** Takes requests, drives runs, carries bulk actions out. */
let worker: TestExecutor;
let door: BulkDoor;

beforeAll(async () => {
  world = await World.create();
  worker = await TestExecutor.start(world, {
    model: (request) => {
      const said = JSON.stringify(request.messages);
      if (said.includes('long')) return never;
      return said.includes('fails')
        ? { failure: { code: 'provider_invalid', status: 400, retryable: false } }
        : { text: 'done' };
    },
    tool: () => ({ ok: true, text: '' }),
  });
  door = new BulkDoor(world, worker);
});
afterAll(async () => {
  await worker?.stop();
  await world[Symbol.asyncDispose]();
});

const typesOf = async (runId: string, type: string): Promise<number> =>
  (await world.types(runId)).filter((one) => one === type).length;

describe('a bulk action', () => {
  test('is previewed without doing anything, then cancels what its filter finds and says what became of each', async () => {
    const long = [await world.start('long 1'), await world.start('long 2')];
    const short = await world.start('short');
    await world.ended(short);
    await Promise.all([...long, short].map((runId) => world.row(runId)));
    const body = { action: 'cancel', filter: { agent_id: 'agent' } };
    const preview = await door.controller.start(CALLER, { ...body, preview: true });
    expect(preview).toMatchObject({ action: 'cancel', preview: true, count: 2 });
    expect((preview.sample as string[]).toSorted()).toEqual(long.toSorted());
    const id = await door.start({ ...body, key: 'k1' });
    await eventually(() => door.ended(id), { withinMs: 60_000 });
    expect(await door.row(id)).toMatchObject({ state: 'completed', runs: 2, handled: 2, chosen: true });
    expect((await door.results(id)).map(({ run_id: runId }) => runId)).toEqual(long.toSorted());
    await Promise.all(long.map((runId) => world.ended(runId)));
    // The same key is the same action; another wish under it is refused.
    expect(await door.start({ ...body, key: 'k1' })).toBe(id);
    await expect(door.start({ action: 'pause', filter: {}, key: 'k1' })).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    });
    // Its runs are a filter of the list of runs.
    const listed = await new RunQueries(world.db).list(CALLER, { bulk_action_id: id });
    expect(listed.data.map(({ run_id: runId }) => String(runId)).toSorted()).toEqual(long.toSorted());
  });

  test('has more runs than any page, all counted before and all told', async () => {
    const ids = Array.from({ length: 230 }, (_, n) => `run_many${n}`);
    await parkedRuns(world, ids, 'many');
    const body = { action: 'cancel', filter: { agent_id: 'many' } };
    expect(await door.controller.start(CALLER, { ...body, preview: true })).toMatchObject({ count: 230 });
    const id = await door.start(body);
    await eventually(() => door.ended(id), { withinMs: 120_000 });
    expect(await door.row(id)).toMatchObject({
      runs: 230,
      outcomes: { done: 230, requested: 0, refused: 0 },
    });
    const pages: unknown[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await door.controller.results(CALLER, { bulk_action_id: id, limit: 100, cursor });
      pages.push(...page.data.map(({ run_id: runId }) => runId));
      if (page.next_cursor === null) break;
      cursor = page.next_cursor;
    }
    expect(pages).toEqual(ids.toSorted());
    expect(await door.recorded(id)).toEqual(ids.toSorted());
  });

  test('resumes, and tries again what failed, each as a run of its own that the result names', async () => {
    const failed = await world.start('fails');
    expect((await world.ended(failed)).type).toBe('RunFailed');
    await world.row(failed);
    const id = await door.start({ action: 'retry', filter: { state: 'failed' } });
    await eventually(() => door.ended(id), { withinMs: 60_000 });
    await door.row(id);
    const [result] = await door.results(id);
    expect(result).toMatchObject({ run_id: failed, outcome: 'done' });
    expect(result?.new_run_id).not.toBe(failed);
    expect((await world.events(String(result?.new_run_id)))[0]?.type).toBe('RunQueued');
    await parkedRuns(world, ['run_resumed'], 'resumed');
    const resuming = await door.start({ action: 'resume', filter: { agent_id: 'resumed' } });
    await eventually(() => door.ended(resuming), { withinMs: 60_000 });
    expect(await typesOf('run_resumed', 'RunResumed')).toBe(1);
  });

  test('is seen and aborted by whoever asked, admins and operators; others may not', async () => {
    const id = await door.start({ action: 'pause', filter: { agent_id: 'nobody' } });
    await eventually(() => door.ended(id), { withinMs: 60_000 });
    await expect(door.row(id, STRANGER)).rejects.toMatchObject({ code: 'forbidden' });
    await expect(door.controller.abort(STRANGER, { bulk_action_id: id })).rejects.toMatchObject({
      code: 'forbidden',
    });
    await expect(door.controller.abort(ADMIN, { bulk_action_id: id })).rejects.toMatchObject({
      code: 'conflict',
    });
    expect(await door.row(id, ADMIN)).toMatchObject({ state: 'completed', runs: 0 });
    await expect(
      door.row(id, { ...ADMIN, org: '0a0b0c0d-1111-4222-8333-444455556666' }),
    ).rejects.toMatchObject({ code: 'not_found' });
    const ids = async (caller: typeof CALLER) => (await door.controller.list(caller, {})).data.length;
    expect(await ids(STRANGER)).toBe(0);
    expect(await ids(ADMIN)).toBe(await ids(CALLER));
  });

  test('tells runs in the name of whoever asked: what is not theirs is not even found', async () => {
    await parkedRuns(world, ['run_theirs'], 'theirs');
    const id = await door.start({ action: 'cancel', filter: { agent_id: 'theirs' } }, STRANGER);
    await eventually(() => door.ended(id), { withinMs: 60_000 });
    expect(await door.row(id, STRANGER)).toMatchObject({ runs: 0 });
    expect(await world.types('run_theirs')).not.toContain('RunCancelRequested');
  });
});

/** The worker must keep out of what only those executors are to do that a spec tells to: it has the place as long as it likes. */
async function withoutWorker<T>(work: () => Promise<T>): Promise<T> {
  await eventually(async () => (await openInRows()) === 0);
  const round = jest.spyOn(worker.executor.bulkActions, 'round').mockResolvedValue(undefined);
  try {
    await worker.executor.bulkActions.leave();
    return await work();
  } finally {
    round.mockRestore();
  }
}
const openInRows = async (): Promise<number> =>
  (await world.rows(`SELECT 1 FROM bulk_actions WHERE state IN ('running', 'aborting')`)).length;
const follower = (tap?: CrashTap | GateTap) => TestExecutor.start(world, null, { works: false, tap });

describe('executors that die', () => {
  test('at each moment of a bulk cancel leave it to another one, and no run gets a second result', async () => {
    await withoutWorker(async () => {
      let moments = Infinity;
      for (let at = 0; at < moments; at++) {
        const agent = `dying-${at}`;
        const ids = [1, 2, 3].map((n) => `run_${agent}-${n}`);
        await parkedRuns(world, ids, agent);
        const tap = new CrashTap(at);
        const dying = await follower(tap);
        const id = await door.start({ action: 'cancel', filter: { agent_id: agent } });
        await door.row(id);
        await dying.executor.bulkActions.round().catch(() => undefined);
        if (!tap.crashed) moments = at;
        await dying.die();
        const heir = await follower();
        await heir.executor.bulkActions.round();
        await heir.executor.bulkActions.leave();
        expect([tap.last, await door.recorded(id)]).toEqual([tap.last, ids]);
        expect(await door.row(id)).toMatchObject({ state: 'completed', handled: 3, outcomes: { done: 3 } });
        for (const runId of ids) expect(await typesOf(runId, 'RunCancelled')).toBe(1);
        await heir.stop();
      }
      expect(moments).toBeGreaterThan(8);
    });
  });

  test('do not make another one pause again what somebody has resumed meanwhile', async () => {
    await withoutWorker(async () => {
      await parkedRuns(world, ['run_again'], 'again');
      await world.append('runs', 'run_again', [{ type: 'RunResumed', data: {} }]);
      await eventually(async () => (await world.row('run_again')).state !== 'paused');
      const tap = new CrashTap((moment) => moment.startsWith('before append BulkRunsHandled'));
      const dying = await follower(tap);
      const id = await door.start({ action: 'pause', filter: { agent_id: 'again' } });
      await door.row(id);
      await dying.executor.bulkActions.round().catch(() => undefined);
      expect(tap.crashed).toBe(true);
      await dying.die();
      expect(await typesOf('run_again', 'RunPaused')).toBe(2);
      await worker.controls.resume(CALLER, { run_id: 'run_again' });
      const heir = await follower();
      await heir.executor.bulkActions.round();
      await heir.stop();
      expect(await typesOf('run_again', 'RunPaused')).toBe(2);
      const results = await eventually(async () => (await door.row(id)).handled === 1 && door.results(id));
      expect(results).toMatchObject([{ run_id: 'run_again', outcome: 'done' }]);
    });
  });

  test('or that have lost their place without knowing record nothing twice', async () => {
    await withoutWorker(async () => {
      const ids = Array.from({ length: 70 }, (_, n) => `run_twice${n}`);
      await parkedRuns(world, ids, 'twice');
      const gate = new GateTap();
      const slow = await follower(gate);
      const held = gate.hold((what) => what.startsWith('append BulkRunsHandled'), 'before');
      const id = await door.start({ action: 'cancel', filter: { agent_id: 'twice' } });
      await door.row(id);
      const round = slow.executor.bulkActions.round();
      await held.reached;
      await slow.executor.bulkActions.leave();
      const heir = await follower();
      await heir.executor.bulkActions.round();
      held.open();
      await round;
      expect(await door.recorded(id)).toEqual(ids.toSorted());
      expect(await door.row(id)).toMatchObject({ state: 'completed', handled: 70 });
      await inBranches(ids, 8, async (runId) => expect(await typesOf(runId, 'RunCancelled')).toBe(1));
      await slow.stop();
      await heir.stop();
    });
  });
});

test('an abort lets the runs that are being told finish, begins no further one, and leaves the rest as they are', async () => {
  await withoutWorker(async () => {
    const ids = Array.from({ length: 70 }, (_, n) => `run_abort${String(n).padStart(2, '0')}`);
    await parkedRuns(world, ids, 'abort');
    const gate = new GateTap();
    const driver = await follower(gate);
    const held = gate.hold((what) => what.includes('RunCancelled'), 'before');
    const id = await door.start({ action: 'cancel', filter: { agent_id: 'abort' } });
    await door.row(id);
    const round = driver.executor.bulkActions.round();
    await held.reached;
    expect(await door.controller.abort(CALLER, { bulk_action_id: id })).toMatchObject({ state: 'aborting' });
    held.open();
    await round;
    expect(await door.row(id)).toMatchObject({
      state: 'aborted',
      runs: 70,
      handled: 64,
      abort_requested_by: CALLER.actor,
    });
    expect(await door.controller.abort(CALLER, { bulk_action_id: id })).toMatchObject({ state: 'aborted' });
    const untouched = await door.results(id, { outcome: 'none' });
    expect(untouched.map(({ run_id: runId }) => runId)).toEqual(ids.slice(64));
    for (const runId of ids.slice(64)) expect(await world.types(runId)).not.toContain('RunCancelRequested');
    await driver.stop();
  });
});

test('rows are what the log makes of them', async () => {
  const { tables } = await rebuildAndCompare({
    ownerUrl: world.database.ownerUrl,
    schema: 'run_executor',
    tables: ['bulk_actions', 'bulk_action_runs'],
    projection: bulkActionsProjection,
    source: archiveSource(world.db, 'RUNS'),
  });
  expect(tables.map(({ missing, extra }) => [missing, extra])).toEqual([
    [0, 0],
    [0, 0],
  ]);
  expect(await world.rows('SELECT 1 FROM bulk_action_runs')).not.toEqual([]);
});
