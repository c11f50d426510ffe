import type { ToolDefinition } from '@runyard/contracts';
import { claim } from './claim';
import { decideControl } from './controls';
import type { Control } from './controls';
import type { Circumstances, NewRunEvent } from './decision';
import { freeTokens, openChildren } from './children';
import { born, circumstances } from './e2e/simulation';
import { decideAll, foldNew } from './next';
import { isLive, NO_RUN } from './run';
import type { LiveRun, Run } from './run';
import { settleChild } from './settlement';
import type { ChildEnd } from './settlement';

const agentTool = (name: string, over: Partial<ToolDefinition> = {}): ToolDefinition => ({
  name,
  description: '',
  inputSchema: {},
  effect: 'read',
  idempotent: false,
  source: { kind: 'agent', agentId: 'helper' },
  timeoutMs: 1,
  endsRun: false,
  ...over,
});

const at = (now: number): Circumstances => {
  const base = circumstances(now);
  const more = [
    agentTool('ask'),
    agentTool('ask_cheaply', { source: { kind: 'agent', agentId: 'helper', tokenBudget: 5_000 } }),
  ];
  return { ...base, tools: new Map([...base.tools, ...more.map((one) => [one.name, one] as const)]) };
};

const turn = (...tools: string[]): NewRunEvent => ({
  type: 'ModelTurnCompleted',
  data: {
    step: 1,
    attempt: 1,
    modelId: 'm',
    provider: 'p',
    model: 'm',
    text: null,
    reasoning: null,
    toolCalls: tools.map((tool, index) => ({
      callId: `c1-${index}`,
      providerCallId: '',
      tool,
      arguments: { text: '{}' },
    })),
    providerReason: '',
    finish: 'tool_calls',
    usage: { input: 900, output: 100, cached: 0, estimated: false },
    startedAt: 0,
    providerState: null,
  },
});

const succeeded = (tokens = 300, text = 'the answer'): ChildEnd => ({
  sequence: 77,
  event: {
    type: 'RunSucceeded',
    time: 0,
    actor: 'system:run-executor',
    data: { output: { text }, spend: { lines: [], own: tokens - 100, children: 100 } },
  },
});
function ended(event: object): ChildEnd {
  const [typed]: ChildEnd['event'][] = JSON.parse(
    JSON.stringify([{ time: 0, actor: 'system:run-executor', ...event }]),
  );
  if (!typed) throw new Error('no event');
  return { sequence: 77, event: typed };
}

/** Appends what happens with everything that is decided from it. */
class Story {
  run: Run = NO_RUN;
  events: NewRunEvent[] = [];
  now = 1_000;

  constructor(over: object = {}) {
    const { data } = born();
    this.put([{ type: 'RunQueued', data: { ...data, ...over } } as NewRunEvent]);
    this.decides(claim(this.live, 'i1', 'woken'));
  }

  get live(): LiveRun {
    if (!isLive(this.run)) throw new Error('the run has ended');
    return this.run;
  }

  put(events: readonly NewRunEvent[]): this {
    this.now += 10;
    this.run = foldNew(this.run, events, this.now);
    this.events.push(...events);
    return this;
  }

  decides(facts: readonly NewRunEvent[] = []): this {
    const base = foldNew(this.run, facts, this.now + 10);
    return this.put([...facts, ...decideAll(base, at(this.now + 10))]);
  }

  requested(...callIds: string[]): this {
    return this.decides(
      callIds.map((callId) => ({
        type: 'ChildRequested',
        data: { callId, childRunId: `run_s.${callId}.1` },
      })),
    );
  }

  settles(callId: string, end: ChildEnd): this {
    return this.put(settleChild(this.run, `run_s.${callId}.1`, end, { now: this.now + 10, pauseTtlMs: 5 }));
  }

  control(control: Control): this {
    return this.put(decideControl(this.run, control));
  }

  since(index: number): string[] {
    return this.events.slice(index).map(({ type }) => type);
  }
}

/** A run that has just asked for tools; the events of the next commits begin at 4. */
const asking = (tools: string[], over: object = {}): Story => new Story(over).decides([turn(...tools)]);
const grants = (story: Story) =>
  story.events.flatMap((event) => (event.type === 'ChildGranted' ? [event.data.grantTokens] : []));

describe('a call of an agent tool', () => {
  it('is granted and started in one commit, and parks the run once it is asked for', () => {
    const story = asking(['ask']);
    expect(story.since(4)).toEqual([
      'ModelTurnCompleted',
      'BudgetSnapshotTaken',
      'ChildGranted',
      'ToolCallStarted',
    ]);
    expect(story.live.situation).toBe('running');
    story.requested('c1-0');
    expect(story.since(8)).toEqual(['ChildRequested', 'RunAwaitingChildren']);
    expect(story.live.situation).toBe('waiting');
    story.settles('c1-0', succeeded());
    expect(story.since(10)).toEqual(['ChildSettled', 'ToolCallSucceeded']);
    expect(story.live).toMatchObject({ situation: 'running', woken: true, childTokens: 300 });
    story.decides(claim(story.live, 'i2', 'woken'));
    expect(story.since(12)).toEqual(['RunRecovered', 'BudgetSnapshotTaken', 'ModelCallStarted']);
  });

  it('stands the deadline still while nothing but children is under way (P5.3)', () => {
    const story = asking(['ask']).requested('c1-0');
    const before = story.live.usedMilliseconds;
    story.now += 1_000_000;
    story.settles('c1-0', succeeded());
    story.decides(claim(story.live, 'i2', 'woken'));
    expect(story.live.usedMilliseconds).toBe(before);
    expect(story.events.at(-1)?.type).toBe('ModelCallStarted');
  });

  it('waits for other calls of the turn with a driver, and for children without', () => {
    const story = asking(['ask', 'read']).requested('c1-0');
    expect(story.live.situation).toBe('running');
    story.decides([
      {
        type: 'ToolCallSucceeded',
        data: { step: 1, callId: 'c1-1', tool: 'read', observation: { text: '' }, startedAt: 0 },
      },
    ]);
    expect(story.live.situation).toBe('waiting');
  });

  it('does not park when the child was settled first', () => {
    const story = asking(['ask']).settles('c1-0', succeeded());
    expect(story.live).toMatchObject({ situation: 'running', woken: false });
    expect(story.decides().events.at(-1)?.type).toBe('ModelCallStarted');
  });

  it('is not lost with the driver: whoever takes over asks again', () => {
    const story = asking(['ask']);
    story.decides(claim(story.live, 'i2', 'no_responders'));
    expect(story.since(8)).toEqual(['RunRecovered']);
    expect(openChildren(story.live)).toMatchObject([
      { callId: 'c1-0', status: 'in_flight', child: { requested: false } },
    ]);
  });

  it('is settled once, and a parent that has ended is left alone', () => {
    const story = asking(['ask']).requested('c1-0').settles('c1-0', succeeded());
    const count = story.events.length;
    story.settles('c1-0', succeeded(900));
    expect(story.events).toHaveLength(count);
    story.control({ type: 'CancelRun', reason: 'user' });
    expect(story.run.situation).toBe('ended');
    expect(settleChild(story.run, 'run_s.c1-0.1', succeeded(), { now: 1, pauseTtlMs: 1 })).toEqual([]);
  });

  it.each([
    [
      {
        type: 'RunFailed',
        data: {
          termination: 'BudgetExceeded',
          reason: 'token_budget',
          error: { code: 'token_budget', text: 'No tokens.' },
        },
      },
      'ended failed (BudgetExceeded / token_budget). No tokens.',
    ],
    [
      {
        type: 'RunFailed',
        data: {
          termination: 'Refused',
          reason: 'model_refused',
          error: { code: 'model_refused', text: 'No.' },
        },
      },
      'ended failed (Refused / model_refused). No.',
    ],
    [{ type: 'RunCancelled', data: { reason: 'user' } }, 'ended cancelled (Cancelled / user)'],
    [{ type: 'RunSkipped', data: { reason: 'budget_exceeded' } }, 'ended skipped (budget_exceeded)'],
  ])('that comes to nothing is an observation: %j', (event, text) => {
    const story = asking(['ask']).requested('c1-0').settles('c1-0', ended(event));
    expect(story.events.at(-1)).toMatchObject({
      type: 'ToolCallFailed',
      data: { observation: { text: expect.stringContaining(text) }, willRetry: false },
    });
    story.decides(claim(story.live, 'i2', 'woken'));
    expect(story.events.at(-1)?.type).toBe('ModelCallStarted');
  });
});

describe('a grant', () => {
  it('is an equal share of what is free, one of them being the parent’s', () => {
    expect(grants(asking(['ask', 'ask', 'ask']))).toEqual([24_750, 24_750, 24_750]);
  });

  it('is the tool’s own budget where it has one; the others share the rest', () => {
    expect(grants(asking(['ask', 'ask_cheaply']))).toEqual([47_000, 5_000]);
    expect(grants(asking(['ask_cheaply'], { grantTokens: 4_000 }))).toEqual([3_000]);
  });

  it('is out of the parent’s reach until it is settled, and then only what was spent is gone', () => {
    const story = asking(['ask']);
    expect(freeTokens(story.live)).toBe(99_000 - 49_500);
    story.requested('c1-0').settles('c1-0', succeeded(300));
    expect(freeTokens(story.live)).toBe(99_000 - 300);
  });

  it('hands on what is left of every bound and the mode', () => {
    const [granted] = asking(['ask', 'read']).events.filter(({ type }) => type === 'ChildGranted');
    expect(granted?.data).toMatchObject({
      childRunId: 'run_s.c1-0.1',
      agentId: 'helper',
      mode: 'auto',
      bounds: { maxSteps: 5, maxToolCalls: 7, tokenBudget: 49_500, maxDepth: 3 },
    });
  });

  it.each([
    ['depth_cap', ['ask'], { depth: 3 }],
    ['token_budget', ['ask'], { grantTokens: 1_150 }],
  ])('is refused as an observation: %s', (code, tools, over) => {
    const story = asking(tools, over);
    expect(story.events.find(({ type }) => type === 'ToolCallFailed')).toMatchObject({
      data: { error: { code }, willRetry: false },
    });
    expect(grants(story)).toEqual([]);
  });

  it('is refused beyond the children that a run may have at a time; the others go ahead', () => {
    const story = asking(['ask', 'ask', 'ask', 'ask', 'ask']);
    expect(grants(story)).toHaveLength(3);
    const refused = story.events.flatMap((event) =>
      event.type === 'ToolCallFailed' ? [event.data.callId] : [],
    );
    expect(refused).toEqual(['c1-3', 'c1-4']);
  });

  it('cannot be raised from below: the root is extended instead', () => {
    const story = new Story({ parentRunId: 'run_p', depth: 1 });
    expect(() =>
      story.control({ type: 'ExtendRun', steps: 0, toolCalls: 0, tokens: 10, seconds: 0 }),
    ).toThrow('at the root');
    story.control({ type: 'ExtendRun', steps: 1, toolCalls: 0, tokens: 0, seconds: 0 });
    expect(story.events.at(-1)?.type).toBe('RunExtended');
  });
});

describe('an end', () => {
  it('names the parent that waits for it', () => {
    const story = new Story({ parentRunId: 'run_p', depth: 1 }).decides([turn()]);
    expect(story.events.at(-1)).toMatchObject({ type: 'RunSucceeded', data: { parentRunId: 'run_p' } });
    expect(new Story().decides([turn()]).events.at(-1)?.data).not.toHaveProperty('parentRunId');
  });

  it('of a cancelled run comes when its last child is settled, with what the tree has spent', () => {
    const story = asking(['ask', 'ask']).requested('c1-0', 'c1-1');
    story.control({ type: 'CancelRun', reason: 'user' });
    expect(story.since(12)).toEqual(['RunAwaitingChildren', 'RunCancelRequested']);
    story.settles('c1-0', succeeded(300));
    expect(story.run.situation).toBe('waiting');
    story.settles(
      'c1-1',
      ended({ type: 'RunCancelled', data: { reason: 'parent', spend: { lines: [], own: 50, children: 0 } } }),
    );
    expect(story.since(14)).toEqual([
      'ChildSettled',
      'ToolCallSucceeded',
      'ChildSettled',
      'ToolCallCancelled',
      'RunCancelled',
    ]);
    expect(story.events.at(-1)).toMatchObject({
      data: { reason: 'user', spend: { own: 1_000, children: 350 } },
    });
  });

  it('of a driven run is its driver’s, and waits as well', () => {
    const story = asking(['ask', 'read']).requested('c1-0');
    story.control({ type: 'CancelRun', reason: 'user' });
    expect(story.decides().since(10)).toEqual(['RunCancelRequested']);
    story.settles('c1-0', ended({ type: 'RunCancelled', data: { reason: 'parent' } }));
    expect(story.run.situation).toBe('running');
  });

  it('of a run that is lost anyway waits for its children, with a driver that cancels them', () => {
    const story = asking(['ask', 'write']).requested('c1-0');
    story.decides([
      {
        type: 'ToolCallAmbiguous',
        data: { step: 1, callId: 'c1-1', tool: 'write', cause: 'timeout', text: '' },
      },
    ]);
    expect(story.live.situation).toBe('running');
    story.settles('c1-0', ended({ type: 'RunCancelled', data: { reason: 'parent' } })).decides();
    expect(story.events.at(-1)).toMatchObject({ type: 'RunFailed', data: { reason: 'unknown_effect' } });
  });

  it('of a child that was never born closes its id', () => {
    const run = foldNew(
      NO_RUN,
      [{ type: 'RunCancelled', data: { reason: 'parent', parentRunId: 'run_p' } }],
      1,
    );
    expect(run).toMatchObject({ situation: 'ended', state: 'cancelled' });
  });
});

it('is paused when its children have answered (P5.1)', () => {
  const story = asking(['ask']).requested('c1-0').control({ type: 'PauseRun', expiresAt: 1e12 });
  expect(story.live.situation).toBe('waiting');
  story.settles('c1-0', succeeded());
  expect(story.since(11)).toEqual(['ChildSettled', 'ToolCallSucceeded', 'RunPaused']);
  story.control({ type: 'ResumeRun' });
  expect(story.live).toMatchObject({ situation: 'running', woken: true });
});
