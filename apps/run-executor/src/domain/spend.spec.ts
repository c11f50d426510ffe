import type { TokenUsage } from '@runyard/contracts';
import { claim } from './claim';
import { decideControl, forceCancel } from './controls';
import type { NewRunEvent } from './decision';
import { born, circumstances } from './e2e/simulation';
import { decideAll, foldNew } from './next';
import { isLive, NO_RUN } from './run';
import type { LiveRun, Run } from './run';

const usage = (input: number, output: number, over: Partial<TokenUsage> = {}): TokenUsage => ({
  input,
  output,
  cached: 0,
  estimated: false,
  ...over,
});
const failed = (
  of: TokenUsage,
  next: 'retry' | 'fallback' | 'give_up',
  code = 'overloaded',
): NewRunEvent => ({
  type: 'ModelCallFailed',
  data: {
    step: 1,
    attempt: 1,
    modelId: 'm',
    error: { code, text: '', status: 529 },
    partialText: null,
    usage: of,
    next,
    retryInMs: 0,
  },
});
const answered = (of: TokenUsage, model = 'm'): NewRunEvent => ({
  type: 'ModelTurnCompleted',
  data: {
    step: 1,
    attempt: 1,
    modelId: 'm',
    provider: 'recorded',
    model,
    text: { text: 'done' },
    reasoning: null,
    toolCalls: [],
    providerReason: 'stop',
    finish: 'stop',
    usage: of,
    startedAt: 0,
    providerState: null,
  },
});

function live(run: Run): LiveRun {
  if (!isLive(run)) throw new Error('the run has ended');
  return run;
}

/** Folds facts and what is decided from them; the last event is what is asked about. */
function happen(run: Run, facts: readonly NewRunEvent[], now: number): { run: Run; last?: NewRunEvent } {
  const base = foldNew(run, facts, now);
  const decided = decideAll(base, circumstances(now));
  return { run: foldNew(base, decided, now), last: [...facts, ...decided].at(-1) };
}

function begun(over: object = {}): LiveRun {
  const queued = born();
  const run = foldNew(NO_RUN, [{ ...queued, data: { ...queued.data, ...over } } as NewRunEvent], 1);
  return live(happen(run, claim(live(run), 'here', 'woken'), 2).run);
}

const line = { modelId: 'm', model: 'm', provider: 'recorded', tier: 'fast' };

describe('what an end says of the tokens spent', () => {
  it('books every attempt once, failed ones too, and keeps models apart', () => {
    const retried = happen(begun(), [failed(usage(25, 3, { estimated: true }), 'retry')], 3);
    const { last } = happen(retried.run, [answered(usage(40, 7, { cached: 30 }), 'm-2026')], 4);
    expect(last).toMatchObject({ type: 'RunSucceeded' });
    expect(last?.data).toMatchObject({
      spend: {
        lines: [
          { ...line, calls: 1, input: 25, output: 3, cached: 0, estimated: 28 },
          { ...line, model: 'm-2026', calls: 1, input: 40, output: 7, cached: 30, estimated: 0 },
        ],
        own: 75,
        children: 0,
      },
    });
  });

  it('counts a call that was broken off after a cancel', () => {
    const asked = foldNew(begun(), decideControl(begun(), { type: 'CancelRun', reason: 'user' }), 3);
    const { last } = happen(asked, [failed(usage(25, 90, { estimated: true }), 'retry', 'cancelled')], 4);
    expect(last).toMatchObject({ type: 'RunCancelled', data: { spend: { own: 115 } } });
  });

  it('C32 counts a lost call at its worst case in the very commit that closes the run (BerriAI/litellm#14457)', () => {
    const run = begun();
    if (run.phase.name !== 'calling_model') throw new Error('no call is under way');
    const worst = run.phase.worstCaseInput + run.phase.maxOutputTokens;
    const asked = live(foldNew(run, decideControl(run, { type: 'CancelRun', reason: 'user' }), 3));
    const events = forceCancel(asked);
    expect(events.map(({ type }) => type)).toEqual(['ModelCallFailed', 'RunCancelled']);
    expect(events[1]?.data).toMatchObject({
      spend: { own: worst, lines: [{ ...line, calls: 1, estimated: worst }] },
    });
  });

  it('says nothing was spent where no model was called', () => {
    const queued = live(foldNew(NO_RUN, [born()], 1));
    expect(decideControl(queued, { type: 'CancelRun', reason: 'user' }).at(-1)).toEqual({
      type: 'RunCancelled',
      data: { reason: 'user', spend: { lines: [], own: 0, children: 0 } },
    });
  });
});

describe('a grant that is used up', () => {
  const spentAll = (over: object): NewRunEvent | undefined =>
    happen(begun(over), [failed(usage(99_990, 0), 'retry')], 3).last;

  it('reads token_budget where the run had all that it may have', () => {
    expect(spentAll({})).toMatchObject({ type: 'RunFailed', data: { reason: 'token_budget' } });
  });

  it('reads weekly_budget where the cap had cut it (P6.1)', () => {
    expect(spentAll({ weeklyCapped: true })).toMatchObject({
      type: 'RunFailed',
      data: { termination: 'BudgetExceeded', reason: 'weekly_budget', spend: { own: 99_990 } },
    });
  });
});
