import type { Mode, ModelRoute, RunEvent, ToolDefinition } from '@runyard/contracts';
import { DEFAULT_BOUNDS, Problem } from '@runyard/contracts';
import { claim } from './claim';
import { decideControl, expirePause, forceCancel } from './controls';
import type { Control } from './controls';
import type { Circumstances, NewRunEvent } from './decision';
import { PARALLEL_CALLS } from './effects';
import { fold } from './evolve';
import { NO_MATERIAL } from './material';
import { dated, decideAll, foldNew } from './next';
import { isLive, NO_RUN } from './run';
import type { LiveRun, Run } from './run';
import { messagesOf } from './transcript';

const ROUTE: ModelRoute = {
  modelId: 'm1',
  label: 'M',
  tier: 'fast',
  provider: { kind: 'recorded', recording: 'r' },
  model: 'model-1',
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
};
const tool = (name: string, over: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: '',
  inputSchema: {},
  effect: 'read',
  idempotent: true,
  source: { kind: 'builtin', name },
  timeoutMs: 1_000,
  endsRun: false,
  ...over,
});
const TOOLS = [
  tool('look'),
  tool('write', { effect: 'write', idempotent: false }),
  tool('put', { effect: 'write', idempotent: true }),
  tool('hand_over', { endsRun: true }),
];

const at = (now: number, over: Partial<Circumstances> = {}): Circumstances => ({
  now,
  runId: 'run_x',
  models: [ROUTE, { ...ROUTE, modelId: 'm2', model: 'model-2' }],
  tools: new Map(TOOLS.map((one) => [one.name, one])),
  overheadBytes: 100,
  judge: (call) =>
    call.arguments === 'bad'
      ? { ok: false, code: 'invalid_arguments', text: 'not JSON' }
      : { ok: true, digest: `d:${call.arguments}` },
  childRunId: (callId, attempt) => `run_child_${callId}_${attempt}`,
  parallelChildren: 3,
  pauseTtlMs: 60_000,
  ...over,
});

interface Start {
  mode?: Mode;
  bounds?: Partial<typeof DEFAULT_BOUNDS>;
}

const queued = ({ mode = 'auto', bounds = {} }: Start = {}): NewRunEvent => ({
  type: 'RunQueued',
  data: {
    agentId: 'a',
    agentVersion: 1,
    ownerId: 'o',
    userId: 'o',
    requestedBy: 'user:o',
    trigger: 'manual',
    parentRunId: null,
    rootRunId: 'run_x',
    depth: 0,
    conversationId: null,
    tier: 'fast',
    requestDigest: 'd',
    input: { text: 'hello' },
    definition: 'def',
    settings: { bounds: { ...DEFAULT_BOUNDS, ...bounds }, mode, approvalPolicy: 'park' },
    grantTokens: bounds.tokenBudget ?? DEFAULT_BOUNDS.tokenBudget,
    previousRunId: null,
    slot: null,
  },
});

const USAGE = { input: 10, output: 5, cached: 0, estimated: false };
const turn = (step: number, calls: [string, string][] = [], over: object = {}): NewRunEvent => ({
  type: 'ModelTurnCompleted',
  data: {
    step,
    attempt: 1,
    modelId: 'm1',
    provider: 'recorded',
    model: 'model-1',
    text: { text: calls.length ? '' : 'done' },
    reasoning: null,
    toolCalls: calls.map(([name, args], index) => ({
      callId: `c${step}-${index}`,
      providerCallId: 'same',
      tool: name,
      arguments: { text: args },
    })),
    providerReason: 'stop',
    finish: 'stop',
    usage: USAGE,
    startedAt: 0,
    providerState: null,
    ...over,
  },
});
const result = (callId: string, text = 'ok', name = 'look'): NewRunEvent => ({
  type: 'ToolCallSucceeded',
  data: { step: 1, callId, tool: name, observation: { text }, startedAt: 0 },
});
const modelFailed = (over: object): NewRunEvent => ({
  type: 'ModelCallFailed',
  data: {
    step: 1,
    attempt: 1,
    modelId: 'm1',
    error: { code: 'provider_unavailable', text: 'down', status: 503 },
    partialText: null,
    usage: { input: 0, output: 0, cached: 0, estimated: false },
    next: 'retry',
    retryInMs: 500,
    ...over,
  },
});

/** Appends what happens, one commit each, with everything that is decided from it; time goes on by 10 ms a commit. */
class Story {
  run: Run = NO_RUN;
  events: NewRunEvent[] = [];
  now = 1_000;

  constructor(start: Start = {}) {
    this.append([queued(start)]);
  }

  append(events: NewRunEvent[]): this {
    this.now += 10;
    this.run = foldNew(this.run, events, this.now);
    this.events.push(...events);
    return this;
  }

  claimedBy(instance: string): this {
    const claims = claim(this.live, instance, 'no_responders');
    return this.append([
      ...claims,
      ...decideAll(foldNew(this.run, claims, this.now + 10), at(this.now + 10)),
    ]);
  }

  happens(...facts: NewRunEvent[]): this {
    return this.append([...facts, ...decideAll(foldNew(this.run, facts, this.now + 10), at(this.now + 10))]);
  }

  /** Time passes until something is due. */
  later(ms: number): this {
    this.now += ms;
    return this.append(decideAll(this.run, at(this.now)));
  }

  control(control: Control): this {
    return this.append(decideControl(this.run, control));
  }

  get live(): LiveRun {
    if (!isLive(this.run)) throw new Error('the run has ended');
    return this.run;
  }

  /** Names of the last commits' events from `index` on. */
  since(index: number): string[] {
    return this.events.slice(index).map((event) => event.type);
  }

  get last(): NewRunEvent | undefined {
    return this.events.at(-1);
  }
}

const started = (start: Start = {}) => new Story(start).claimedBy('i1');

describe('the loop', () => {
  it('claims, takes a snapshot and announces the model call in one commit', () => {
    expect(started().since(1)).toEqual(['RunStarted', 'BudgetSnapshotTaken', 'ModelCallStarted']);
  });

  it('answers without a call by succeeding with the text as output', () => {
    const story = started().happens(turn(1));
    expect(story.last).toMatchObject({ type: 'RunSucceeded', data: { output: { text: 'done' } } });
  });

  it('writes two commits an iteration', () => {
    const story = started().happens(turn(1, [['look', '{}']]));
    expect(story.since(4)).toEqual(['ModelTurnCompleted', 'BudgetSnapshotTaken', 'ToolCallStarted']);
    story.happens(result('c1-0'));
    expect(story.since(7)).toEqual(['ToolCallSucceeded', 'BudgetSnapshotTaken', 'ModelCallStarted']);
  });

  it('puts parallel results into the dialog in call order, whatever order they arrive in', () => {
    const story = started().happens(
      turn(1, [
        ['look', '1'],
        ['look', '2'],
      ]),
    );
    story.happens(result('c1-1', 'second'));
    expect(story.last?.type).toBe('ToolCallSucceeded');
    story.happens(result('c1-0', 'first'));
    expect(
      messagesOf(story.live.transcript)
        .slice(-2)
        .map((m) => m.text),
    ).toEqual(['first', 'second']);
  });

  it('makes invalid arguments and unknown tools observations that the model sees', () => {
    const story = started().happens(
      turn(1, [
        ['look', 'bad'],
        ['nowhere', '{}'],
      ]),
    );
    expect(story.since(5)).toEqual([
      'ToolCallFailed',
      'ToolCallFailed',
      'BudgetSnapshotTaken',
      'ModelCallStarted',
    ]);
    expect(messagesOf(story.live.transcript).at(-1)?.text).toMatch(/There is no tool "nowhere".*look/);
  });

  it('C30 ends a run that makes the same invalid call three times in a row', () => {
    const story = started();
    for (const step of [1, 2, 3]) story.happens(turn(step, [['look', 'bad']]));
    expect(story.last).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'ToolFailure', error: { code: 'repeated_invalid_call' } },
    });
  });

  it('ends with the result of a tool that hands the dialog over', () => {
    const story = started()
      .happens(turn(1, [['hand_over', '{}']]))
      .happens(result('c1-0', 'transferred', 'hand_over'));
    expect(story.last).toMatchObject({ type: 'RunSucceeded', data: { output: { text: 'transferred' } } });
  });

  it('C19 decides by content: calls are run whatever the finish reason, and an empty answer is an answer', () => {
    expect(started().happens(turn(1, [['look', '{}']], { finish: 'stop' })).last?.type).toBe(
      'ToolCallStarted',
    );
    const empty = started().happens(turn(1, [], { finish: 'tool_calls', text: null }));
    expect(empty.last).toMatchObject({ type: 'RunSucceeded', data: { output: { text: '' } } });
  });

  it('ends a refusal and a filtered answer as such', () => {
    expect(started().happens(turn(1, [], { finish: 'refusal' })).last).toMatchObject({
      data: { reason: 'model_refused' },
    });
    expect(started().happens(turn(1, [], { finish: 'content_filter' })).last).toMatchObject({
      data: { reason: 'content_filtered' },
    });
  });
});

describe('bounds', () => {
  it('ends at the step cap after the results of the last turn are recorded', () => {
    const story = started({ bounds: { maxSteps: 1 } })
      .happens(turn(1, [['look', '{}']]))
      .happens(result('c1-0'));
    expect(story.since(-2)).toEqual(['ToolCallSucceeded', 'RunFailed']);
    expect(story.last).toMatchObject({ data: { termination: 'BudgetExceeded', reason: 'iteration_cap' } });
  });

  it('dispatches no call of a turn that asks for more than is left', () => {
    const story = started({ bounds: { maxToolCalls: 1 } }).happens(
      turn(1, [
        ['look', '1'],
        ['look', '2'],
      ]),
    );
    expect(story.since(5)).toEqual(['ToolCallCancelled', 'ToolCallCancelled', 'RunFailed']);
    expect(story.last).toMatchObject({ data: { reason: 'tool_call_cap' } });
  });

  it('lowers the output limit to what is left, and stops before the money is spent', () => {
    const tight = started({ bounds: { tokenBudget: 200 } });
    expect(tight.last).toMatchObject({
      type: 'ModelCallStarted',
      data: { worstCaseInput: 121, maxOutputTokens: 79 },
    });
    const none = started({ bounds: { tokenBudget: 121 } });
    expect(none.last).toMatchObject({ type: 'RunFailed', data: { reason: 'token_budget' } });
  });

  it('counts the deadline in running time only', () => {
    const story = started({ bounds: { deadlineSeconds: 1 } }).happens(turn(1, [['look', '{}']]));
    story.control({ type: 'PauseRun', expiresAt: 1e9 }).happens(result('c1-0'));
    expect(story.last?.type).toBe('RunPaused');
    story.now += 100_000;
    story.control({ type: 'ResumeRun' }).claimedBy('i2');
    expect(story.last?.type).toBe('ModelCallStarted');
    story.now += 2_000;
    story.happens(turn(2, [['look', '{}']]));
    expect(story.last).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'Deadline', reason: 'deadline' },
    });
  });
});

describe('model failures', () => {
  it('waits out the backoff, then asks the same route again', () => {
    const story = started().happens(modelFailed({}));
    expect(story.last?.type).toBe('ModelCallFailed');
    story.later(600);
    expect(story.last).toMatchObject({ type: 'ModelCallStarted', data: { attempt: 2, modelId: 'm1' } });
  });

  it('falls back along the list and ends where it is used up', () => {
    const story = started().happens(modelFailed({ next: 'fallback', retryInMs: 0 }));
    expect(story.last).toMatchObject({ type: 'ModelCallStarted', data: { modelId: 'm2', attempt: 2 } });
    story.happens(
      modelFailed({ attempt: 2, next: 'give_up', error: { code: 'provider_auth', text: 'no', status: 401 } }),
    );
    expect(story.last).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'Error', reason: 'provider_auth' },
    });
  });
});

describe('modes', () => {
  it('denies a writing tool in plan mode and tells the model', () => {
    const story = started({ mode: 'plan' }).happens(turn(1, [['write', '{}']]));
    expect(story.since(5)).toEqual(['ToolCallDenied', 'BudgetSnapshotTaken', 'ModelCallStarted']);
  });

  it('asks for a decision in ask mode before anything of the turn is dispatched', () => {
    const story = started({ mode: 'ask' }).happens(
      turn(1, [
        ['look', '{}'],
        ['write', '{}'],
      ]),
    );
    expect(story.since(5)).toEqual(['ToolCallCancelled', 'ToolCallCancelled', 'RunFailed']);
    expect(story.last).toMatchObject({
      data: { termination: 'ConfirmationPending', reason: 'confirmation_required' },
    });
  });
});

describe('a lost executor', () => {
  it('books the model call that was under way at its worst case and asks again', () => {
    const story = started().claimedBy('i2');
    expect(story.since(4)).toEqual([
      'RunRecovered',
      'ModelCallFailed',
      'BudgetSnapshotTaken',
      'ModelCallStarted',
    ]);
    expect(story.events[5]).toMatchObject({
      data: { usage: { input: 121, output: 1_000, estimated: true } },
    });
    expect(story.live.epoch).toBe(2);
  });

  it('repeats a reading or idempotent call with the same key', () => {
    const story = started().happens(turn(1, [['put', '{}']]));
    const first = story.last;
    story.claimedBy('i2');
    expect(story.since(7)).toEqual([
      'RunRecovered',
      'ToolCallAmbiguous',
      'BudgetSnapshotTaken',
      'ToolCallStarted',
    ]);
    expect(story.last?.data).toEqual({ ...first?.data, attempt: 2 });
  });

  it('is held against neither tool nor route: their own failures alone count', () => {
    const failed = (attempt: number): NewRunEvent => ({
      type: 'ToolCallFailed',
      data: {
        step: 1,
        callId: 'c1-0',
        tool: 'look',
        error: { code: 'connection', text: '' },
        observation: { text: '' },
        startedAt: 0,
        attempt,
        willRetry: true,
        retryInMs: 0,
      },
    });
    const tools = new Story()
      .claimedBy('a')
      .happens(turn(1, [['look', '{}']]))
      .claimedBy('b')
      .claimedBy('c')
      .happens(failed(3));
    expect(tools.live.phase).toMatchObject({ name: 'calling_tools', calls: [{ attempt: 4, failures: 1 }] });
    const models = new Story()
      .claimedBy('a')
      .claimedBy('b')
      .happens(
        modelFailed({ attempt: 2, error: { code: 'cancelled', text: '', status: null }, retryInMs: 0 }),
      );
    expect(models.live.phase).toMatchObject({ name: 'calling_model', attempt: 3, routeAttempt: 1 });
  });

  it('starts no calls that wait for a place when another attempt of one becomes due', () => {
    const calls = Array.from({ length: PARALLEL_CALLS + 6 }, (_, n): [string, string] => ['look', String(n)]);
    const failed: NewRunEvent = {
      type: 'ToolCallFailed',
      data: {
        step: 1,
        callId: 'c1-0',
        tool: 'look',
        error: { code: 'connection', text: '' },
        observation: { text: '' },
        startedAt: 0,
        attempt: 1,
        willRetry: true,
        retryInMs: 0,
      },
    };
    const story = new Story({ bounds: { maxToolCalls: 1_000 } }).claimedBy('a').happens(turn(1, calls));
    story.happens(failed).happens(result('c1-1'));
    const begun = story.events.flatMap((e) => (e.type === 'ToolCallStarted' ? [e.data.callId] : []));
    expect(begun).toHaveLength(PARALLEL_CALLS + 1);
    expect(begun.at(-1)).toBe('c1-0');
  });

  it('never repeats a write that is not idempotent: the run ends unknown_effect', () => {
    const story = started()
      .happens(turn(1, [['write', '{}']]))
      .claimedBy('i2');
    expect(story.last).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'ToolFailure', reason: 'unknown_effect' },
    });
  });

  it('C10 keeps a result that was recorded and repeats only the call without one', () => {
    const story = started()
      .happens(
        turn(1, [
          ['look', '1'],
          ['look', '2'],
        ]),
      )
      .happens(result('c1-0', 'kept'));
    story.claimedBy('i2');
    const again = story.events.filter((e) => e.type === 'ToolCallStarted' && e.data.attempt === 2);
    expect(again.map((e) => (e.type === 'ToolCallStarted' ? e.data.callId : ''))).toEqual(['c1-1']);
  });

  it('buys no recorded turn again', () => {
    const story = started()
      .happens(turn(1, [['look', '{}']]))
      .happens(result('c1-0'))
      .claimedBy('i2');
    const turns = story.events.filter((e) => e.type === 'ModelTurnCompleted');
    expect(turns).toHaveLength(1);
    expect(story.last).toMatchObject({ type: 'ModelCallStarted', data: { step: 2 } });
  });
});

describe('controls', () => {
  it('asks the driver of a running run and ends a queued one at once', () => {
    const running = started().control({ type: 'CancelRun', reason: 'user' });
    expect(running.since(4)).toEqual(['RunCancelRequested']);
    running.happens(modelFailed({ error: { code: 'cancelled', text: '', status: null }, retryInMs: 0 }));
    expect(running.last).toMatchObject({ type: 'RunCancelled', data: { reason: 'user' } });
    const waiting = new Story().control({ type: 'CancelRun', reason: 'user' });
    expect(waiting.since(1)).toEqual(['RunCancelRequested', 'RunCancelled']);
  });

  it('starts no tool after the cancel, and a turn that arrives with it is recorded', () => {
    const story = started()
      .control({ type: 'CancelRun', reason: 'user' })
      .happens(turn(1, [['look', '{}']]));
    expect(story.since(5)).toEqual(['ModelTurnCompleted', 'ToolCallCancelled', 'RunCancelled']);
  });

  it('is harmless said twice and refused where it makes no sense', () => {
    const story = started().control({ type: 'CancelRun', reason: 'user' });
    const before = story.events.length;
    story.control({ type: 'CancelRun', reason: 'user' });
    expect(story.events).toHaveLength(before);
    expect(() => story.control({ type: 'PauseRun', expiresAt: 1 })).toThrow(Problem);
    const done = started().happens(turn(1));
    expect(() => done.control({ type: 'CancelRun', reason: 'user' })).toThrow(/has ended \(succeeded\)/);
  });

  it('extends bounds of a live run up to the ceilings', () => {
    const story = started({ bounds: { maxSteps: 1 } });
    story.control({ type: 'ExtendRun', steps: 5, toolCalls: 0, tokens: 0, seconds: 1e12 });
    expect(story.live.bounds).toMatchObject({ maxSteps: 6, deadlineSeconds: 604_800 });
  });

  it('changes the mode for the next call', () => {
    const story = started({ mode: 'auto' })
      .control({ type: 'SetMode', mode: 'plan' })
      .happens(turn(1, [['write', '{}']]));
    expect(story.events.some((event) => event.type === 'ToolCallDenied')).toBe(true);
  });

  it('ends a pause that outlives its time, and a cancel that the driver does not obey', () => {
    const paused = new Story().control({ type: 'PauseRun', expiresAt: 5_000 });
    expect(expirePause(paused.live, 4_999)).toEqual([]);
    expect(expirePause(paused.live, 5_000)).toMatchObject([
      { type: 'RunFailed', data: { reason: 'pause_expired' } },
    ]);
    const stuck = started()
      .happens(turn(1, [['write', '{}']]))
      .control({ type: 'CancelRun', reason: 'user' });
    expect(forceCancel(stuck.live).map((event) => event.type)).toEqual(['ToolCallAmbiguous', 'RunCancelled']);
  });
});

describe('the fold', () => {
  it('is deterministic and leaves an ended run as it is', () => {
    const story = started()
      .happens(turn(1, [['look', '{}']]))
      .happens(result('c1-0'))
      .happens(turn(2));
    const events = story.events.map((event, index) => dated(event, 1_000 + index)) as RunEvent[];
    expect(fold(NO_RUN, events, NO_MATERIAL)).toEqual(fold(NO_RUN, events, NO_MATERIAL));
    const after = fold(story.run, events, NO_MATERIAL);
    expect(after).toEqual(story.run);
  });
});
