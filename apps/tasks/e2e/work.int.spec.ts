import type { RunRequest, TaskLockRow, TaskRow, TaskRunRow, TaskStepRow } from '@runyard/contracts';
import { ERASED_RUNS } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import type { RunEnd } from './ending-executor';
import { World } from './world';

jest.setTimeout(240_000);

type Task = TaskRow & { dependencies: { task_id: string; status: string }[] };

const PLAN: RunEnd = { output: '```json\n{"steps":[{"title":"One"},{"title":"Two","detail":"more"}]}\n```' };
const YES: RunEnd = { output: '{"accepted":true,"reason":"fine"}' };
const REPORT: RunEnd = { output: 'All is done.' };
const RESULT: RunEnd = { output: 'result' };

const phaseOf = ({ input }: RunRequest): 'plan' | 'act' | 'verify' | 'report' => {
  if (input.startsWith('Plan')) return 'plan';
  if (input.startsWith('Carry out')) return 'act';
  return input.startsWith('Judge') ? 'verify' : 'report';
};

describe('the work on a task, on real servers', () => {
  let world: World;
  beforeAll(async () => {
    world = await World.start();
  });
  afterAll(() => world?.stop());
  beforeEach(() => {
    world.executor.ends = usually({});
  });

  /** Ends of runs by phase, in order; the last one stays. */
  function usually(ends: Partial<Record<'plan' | 'act' | 'verify' | 'report', RunEnd[]>>) {
    const left = { plan: [PLAN], act: [RESULT], verify: [YES], report: [REPORT], ...ends };
    return (request: RunRequest): RunEnd => {
      const list = left[phaseOf(request)];
      return (list.length > 1 ? list.shift() : list[0]) ?? 'never';
    };
  }
  const start = (task_id: string, more: object = {}) => world.call<Task>('start', { task_id, ...more });
  const ended = (taskId: string) =>
    world.until<Task>(taskId, ({ status }) => status !== 'running' && status !== 'pending');
  const phases = (taskId: string) => world.requestsOf(taskId).map(phaseOf);
  const begun = async (more: object = {}): Promise<string> => {
    const taskId = await world.task(more);
    await start(taskId);
    return taskId;
  };

  test('goes through plan, act, verify and report, with steps sent back once', async () => {
    const back: RunEnd = { output: '{"accepted":false,"reason":"Two is too short","redo":[2]}' };
    world.executor.ends = usually({ verify: [back, YES] });
    const taskId = await begun({ acceptance: 'Two is long' });
    expect(await ended(taskId)).toMatchObject({
      status: 'completed',
      report: 'All is done.',
      round: 2,
      steps_done: 2,
      steps_total: 2,
      steps_used: 7,
      total_tokens: 7 * 15,
    });
    expect(phases(taskId)).toEqual(['plan', 'act', 'act', 'verify', 'act', 'verify', 'report']);
    const { data: steps } = await world.call<{ data: TaskStepRow[] }>('steps', { task_id: taskId });
    expect(steps.map(({ title, status, result }) => [title, status, result])).toEqual([
      ['One', 'completed', 'result'],
      ['Two', 'completed', 'result'],
    ]);
    const requests = world.requestsOf(taskId);
    expect(requests[4]!.input).toContain('Two is too short');
    expect(new Set(requests.map(({ trigger }) => trigger))).toEqual(new Set(['task']));
    // Only act may change anything.
    expect(requests.map(({ mode }) => mode ?? 'own')).toEqual([
      'plan',
      'own',
      'own',
      'plan',
      'own',
      'plan',
      'plan',
    ]);
    // What is left, less one step for each run that must come after.
    expect(requests.map(({ bounds }) => bounds?.max_steps)).toEqual([22, 21, 21, 21, 19, 19, 19]);
    expect(steps.map(({ run_id }) => run_id)).toEqual(
      [1, 4].map((i) => runIdOf(world.org, requests[i]!.key)),
    );
  });

  test('a plan that misses the format is asked for again with what was wrong, and given up after three', async () => {
    world.executor.ends = usually({ plan: [{ output: 'Well, first…' }, { output: '{"steps":[]}' }, PLAN] });
    const good = await begun();
    expect((await ended(good)).status).toBe('completed');
    const [, second, third] = world.requestsOf(good);
    expect(second!.input).toContain('The answer is not JSON alone.');
    expect(third!.input).toContain('must have at least one step');
    world.executor.ends = usually({ plan: [{ output: 'no plan' }] });
    const bad = await begun();
    expect(await ended(bad)).toMatchObject({ status: 'failed', reason: 'invalid_plan' });
    expect(phases(bad)).toEqual(['plan', 'plan', 'plan']);
  });

  test('its steps are used up: it fails, and says so', async () => {
    world.executor.ends = usually({ act: [{ output: 'r', steps: 3 }] });
    const taskId = await begun({ max_steps: 5 });
    expect(await ended(taskId)).toMatchObject({ status: 'failed', reason: 'iteration_cap', steps_used: 7 });
  });

  test.each([
    [{ skipped: 'budget_exceeded' } as RunEnd, 'budget_exceeded'],
    [{ refused: 'agent_disabled' } as RunEnd, 'agent_disabled'],
    [{ failed: 'weekly_budget' } as RunEnd, 'weekly_budget'],
  ])('a run that comes to %j fails the task with that reason', async (end, reason) => {
    world.executor.ends = usually({ act: [end] });
    const taskId = await begun();
    expect(await ended(taskId)).toMatchObject({ status: 'failed', reason });
    // Started again, it goes on where it was.
    world.executor.ends = usually({});
    await start(taskId);
    expect(await ended(taskId)).toMatchObject({ status: 'completed', reason: null });
    expect(phases(taskId)).toEqual(['plan', 'act', 'act', 'act', 'verify', 'report']);
  });

  test('a busy agent and a passing failure are asked again', async () => {
    world.executor.ends = usually({
      plan: [{ skipped: 'already_running' }, { failed: 'provider_unavailable' }, PLAN],
    });
    const taskId = await begun();
    expect((await ended(taskId)).status).toBe('completed');
    expect(phases(taskId).slice(0, 4)).toEqual(['plan', 'plan', 'plan', 'act']);
  });

  test('a stop cancels the run and confirms; a deleted run leaves no link and keeps its tokens', async () => {
    world.executor.ends = usually({ act: ['never'] });
    const taskId = await begun();
    await world.until<Task>(taskId, ({ phase }) => phase === 'act');
    const stopped = await world.call<Task>('stop', { task_id: taskId });
    expect(stopped).toMatchObject({ status: 'cancelled', stopping: false });
    expect(world.executor.cancelled).toContain(stopped.latest_run_id);
    const { total_tokens } = stopped;
    await world.append('runs', stopped.latest_run_id!, [{ type: 'RunDeleted', data: { agentId: 'worker' } }]);
    const task = await world.until<Task>(taskId, ({ latest_run_id }) => latest_run_id === null);
    expect(task.total_tokens).toBe(total_tokens);
    const { data: steps } = await world.call<{ data: TaskStepRow[] }>('steps', { task_id: taskId });
    expect(steps.map(({ status, run_id }) => [status, run_id])).toEqual([
      ['cancelled', null],
      ['pending', null],
    ]);
    const { data: runs } = await world.call<{ data: TaskRunRow[] }>('runs', { task_id: taskId });
    expect(runs.map(({ state, run_id }) => [state, run_id === null])).toEqual([
      ['cancelled', true],
      ['succeeded', false],
    ]);
  });

  test('a run that is erased leaves no link either, though its own log says nothing any more', async () => {
    world.executor.ends = usually({ act: ['never'] });
    const taskId = await begun();
    await world.until<Task>(taskId, ({ phase }) => phase === 'act');
    const { latest_run_id: runId } = await world.call<Task>('stop', { task_id: taskId });
    const erasure = {
      runId,
      agentId: 'worker',
      state: 'cancelled',
      endedAt: Date.now(),
      requestDigest: null,
    };
    const counts = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
    const rest = { previousRunId: null, deletion: null, conversation: null };
    const other = { ...erasure, ...counts, ...rest, runId: 'run_of_nobody' };
    await world.append('erasures', ERASED_RUNS, [
      { type: 'RunErased', data: other },
      { type: 'RunErased', data: { ...other, runId } },
    ]);
    await world.until<Task>(taskId, ({ latest_run_id }) => latest_run_id === null);
    const { data: runs } = await world.call<{ data: TaskRunRow[] }>('runs', { task_id: taskId });
    expect(runs.map(({ run_id }) => run_id === null)).toEqual([true, false]);
  });

  test('a plan that is to be looked at waits, can be changed under the lock, and goes on', async () => {
    const taskId = await begun({ review_plan: true });
    await world.until<Task>(taskId, ({ attention }) => attention === 'plan_review');
    const { lock } = await world.call<{ lock: TaskLockRow }>('lock', { task_id: taskId });
    const steps = [{ title: 'Only this' }];
    await world.call('set_steps', { task_id: taskId, fence: lock.fence, steps });
    await start(taskId);
    expect(await ended(taskId)).toMatchObject({ status: 'completed', steps_total: 1 });
    expect(world.requestsOf(taskId)[1]!.input).toContain('Only this');
  });

  test('a held task starts when what it waits for is completed, and never where that was cancelled or deleted', async () => {
    const [first, second] = [await world.task(), await world.task()];
    const waiting = await world.task({ blocked_by: [first, second] });
    expect(await start(waiting)).toMatchObject({ status: 'pending', attention: 'blocked' });
    await start(first);
    await ended(first);
    expect((await world.call<Task>('get', { task_id: waiting })).status).toBe('pending');
    await start(second);
    expect((await ended(waiting)).status).toBe('completed');

    const gone = await world.task();
    const stopped = await world.task();
    const hopeless = await world.task({ blocked_by: [gone, stopped] });
    const { lock } = await world.call<{ lock: TaskLockRow }>('lock', { task_id: gone });
    await world.call('delete', { task_id: gone, fence: lock.fence });
    const { position } = await world.call<Task>('stop', { task_id: stopped });
    await expect(start(hopeless)).rejects.toMatchObject({ code: 'task_blocked' });
    const { dependencies } = await world.call<Task>('get', { task_id: hopeless, at_least: position });
    expect(dependencies.map(({ status }) => status)).toEqual(['deleted', 'cancelled']);
    const other = await world.call<{ lock: TaskLockRow }>('lock', { task_id: first });
    const circle = { task_id: first, fence: other.lock.fence, blocked_by: [waiting] };
    await expect(world.call('update', circle)).rejects.toMatchObject({ code: 'invalid_request' });
  });

  test('C47 a task that calls itself blocked while nothing is open needs a person, once (NousResearch/hermes-agent#114627)', async () => {
    const parents = [await begun(), await begun()];
    for (const parent of parents) await ended(parent);
    let wording = 0;
    world.executor.ends = usually({});
    const blocked = (): RunEnd => ({ output: `{"blocked":"waits for a dependency, take ${++wording}"}` });
    world.executor.ends = (request) => (phaseOf(request) === 'plan' ? PLAN : blocked());
    const taskId = await begun({ blocked_by: parents });
    await world.until<Task>(taskId, ({ attention }) => attention === 'needs_input');
    // Whatever its parents do now: nothing starts it but a person.
    await begun();
    const asked = (await world.events(taskId)).filter(({ type }) => type === 'TaskNeedsInput');
    expect(asked).toHaveLength(1);
    expect(asked[0]!.data).toMatchObject({ escalated: true });
    expect(world.requestsOf(taskId).length).toBeLessThanOrEqual(3);
    world.executor.ends = usually({});
    await start(taskId, { note: 'Nothing blocks you.' });
    expect((await ended(taskId)).status).toBe('completed');
    expect(world.requestsOf(taskId).at(-1)!.input).toContain('Nothing blocks you.');
  });

  test('C47 a real open parent starts the task again, three times at most (NousResearch/hermes-agent#114627)', async () => {
    const taskId = await world.task();
    const parent = async () => {
      const open = await world.task();
      const { lock } = await world.call<{ lock: TaskLockRow }>('lock', { task_id: taskId });
      await world.call('update', { task_id: taskId, fence: lock.fence, blocked_by: [open] });
      await world.call('release_lock', { task_id: taskId, fence: lock.fence });
      return open;
    };
    const complete = async (open: string) => {
      const { lock } = await world.call<{ lock: TaskLockRow }>('lock', { task_id: open });
      await world.call('complete', { task_id: open, fence: lock.fence, report: 'done' });
    };
    // Each run opens another dependency and calls itself blocked by it.
    let open = await parent();
    world.executor.ends = () => 'never';
    await start(taskId);
    for (let times = 0; times < 3; times++) {
      const before = world.requestsOf(taskId).length;
      await complete(open);
      const [request] = await eventually(() => {
        const list = world.requestsOf(taskId).slice(before);
        return list.length > 0 && list;
      });
      await world.call('stop', { task_id: taskId });
      expect(phaseOf(request!)).toBe('plan');
      open = await parent();
      await world.append('tasks', taskId, [
        { type: 'TaskHeld', data: { waitsFor: [open], note: null, userId: world.owner } },
      ]);
    }
    await complete(open);
    const task = await world.until<Task>(taskId, ({ attention }) => attention === 'needs_input');
    expect(task.status).toBe('pending');
    const asked = (await world.events(taskId)).filter(({ type }) => type === 'TaskNeedsInput');
    expect(asked).toHaveLength(1);
  });
});
