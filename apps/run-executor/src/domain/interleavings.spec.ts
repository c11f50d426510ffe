import type { NewRunEvent } from './decision';
import { AskingRun } from './e2e/asking';
import { decideAnswer } from './approvals';
import { isLive, isParked } from './run';

jest.setTimeout(120_000);

/**
 * Every interleaving of what may happen to a run that asks, up to six moves, states that are the same explored once. The
 * model asks for one write in mode "ask" and answers in its second turn.
 */

const MOVES = ['step', 'pause', 'resume', 'cancel', 'approve', 'deny', 'expire', 'crash', 'extend'] as const;
type Move = (typeof MOVES)[number];
const DEPTH = 6;
const TERMINAL = new Set(['RunSucceeded', 'RunFailed', 'RunCancelled']);

/** The driver's next step: what is under way comes back, or the run is claimed. */
function step(world: AskingRun): void {
  const { run } = world;
  if (!isLive(run) || isParked(run)) return;
  if (run.woken || run.situation === 'queued') return void world.claimed('next');
  const { phase } = run;
  if (phase.name === 'calling_model') return void (phase.step === 1 ? world.asks('write') : world.asks());
  const flying = phase.name === 'calling_tools' && phase.calls.find((call) => call.status === 'in_flight');
  if (flying) world.returns(flying.callId);
  else world.happens();
}

/** The newest question, open or not: an answer to one that is closed must come to nothing. */
const question = (world: AskingRun): string =>
  world.log.findLast((event) => event.type === 'ApprovalRequested')?.data.approvalId ?? 'apr_none';

function play(world: AskingRun, move: Move): void {
  try {
    switch (move) {
      case 'step':
        return step(world);
      case 'pause':
        return void world.control({ type: 'PauseRun', expiresAt: 1e12 });
      case 'resume':
        return void world.control({ type: 'ResumeRun' });
      case 'cancel':
        return void world.control({ type: 'CancelRun', reason: 'user' });
      case 'extend':
        return void world.control({
          type: 'ExtendRun',
          steps: 1,
          toolCalls: 0,
          tokens: 0,
          seconds: 0,
          key: 'once',
        });
      case 'crash':
        return void (isLive(world.run) && !isParked(world.run) && world.claimed('heir'));
      default:
        return void world.answered({ approvalId: question(world), verdict: move });
    }
  } catch (error) {
    // Refused with a reason: nothing happened.
    if (!(error instanceof Error) || error.name !== 'Problem') throw error;
  }
}

/** What must hold of every log, however it came about. */
function expectLawful(log: readonly NewRunEvent[]): void {
  const ends = log.flatMap((event, index) => (TERMINAL.has(event.type) ? [index] : []));
  if (ends.length > 1 || (ends[0] !== undefined && ends[0] !== log.length - 1))
    throw new Error('something follows the end');
  const cancelled = log.findIndex((event) => event.type === 'RunCancelRequested');
  const granted = new Set<string>();
  for (const [index, event] of log.entries()) {
    if (event.type === 'CallApproved') granted.add(event.data.approvalId);
    if (event.type !== 'ToolCallStarted') continue;
    if (cancelled >= 0 && index > cancelled) throw new Error('a call went out after the cancel');
    // Used up by its dispatch: a second one under the same grant is as bad as one without.
    if (!event.data.grant || !granted.delete(event.data.grant.approvalId))
      throw new Error('a call went out without a grant of its own');
  }
}

/** Carried on without further disturbance, a run ends as it was told to. */
function expectToldEnd(world: AskingRun): void {
  const rest = world.copy();
  for (let turn = 0; turn < 40 && isLive(rest.run); turn++) {
    if (rest.run.situation === 'paused') play(rest, 'resume');
    else if (rest.run.situation === 'awaiting_approval') play(rest, 'deny');
    else step(rest);
  }
  expectLawful(rest.log);
  const last = rest.log.at(-1);
  if (!last || !TERMINAL.has(last.type)) throw new Error('the run does not end');
  const told = new Set(rest.log.map((event) => event.type));
  const expired = rest.log.some(
    (event) => event.type === 'ToolCallDenied' && event.data.decision.decidedBy === 'system:expiry',
  );
  if (told.has('RunCancelRequested') && last.type === 'RunSucceeded') throw new Error('a cancel was lost');
  if (expired && last.type === 'RunSucceeded') throw new Error('an expiry was lost');
  const approved = rest.log.some((event) => event.type === 'CallApproved');
  const sent = rest.log.some((event) => event.type === 'ToolCallStarted');
  const over = told.has('RunCancelRequested') || expired;
  if (approved && !sent && !over && !told.has('ToolCallDenied')) throw new Error('an approval was lost');
  const extended = rest.log.filter((event) => event.type === 'RunExtended').length;
  if (extended > 1) throw new Error('one key extended twice');
}

/** The same state with the same past: nothing new can come of it. */
function keyOf(world: AskingRun): string {
  const { run } = world;
  if (!isLive(run)) return `ended ${world.types().join()}`;
  const { transcript: _t, lastEventAt: _l, runningSince: _r, usedMilliseconds: _u, ...rest } = run;
  return JSON.stringify(rest, (name, value: unknown) => (name === 'expiresAt' ? 0 : value)) + grantsIn(world);
}

const grantsIn = ({ log }: AskingRun): string =>
  log
    .flatMap((event) =>
      event.type === 'CallApproved' || event.type === 'ToolCallStarted' ? [event.type] : [],
    )
    .join();

it('ends once, sends nothing without a grant and loses no command, whatever the order of up to six moves', () => {
  const seen = new Map<string, number>();
  let states = 0;
  const explore = (world: AskingRun, left: number, path: Move[]): void => {
    const key = keyOf(world);
    if ((seen.get(key) ?? -1) >= left) return;
    seen.set(key, left);
    states++;
    try {
      expectLawful(world.log);
      expectToldEnd(world);
    } catch (error) {
      throw new Error(`${path.join(', ')}: ${(error as Error).message}\n${world.types().join(' ')}`, {
        cause: error,
      });
    }
    if (left === 0) return;
    for (const move of MOVES) {
      const next = world.copy();
      play(next, move);
      explore(next, left - 1, [...path, move]);
    }
  };
  explore(new AskingRun(), DEPTH, []);
  // From the moment of the question on, there are as many moves again.
  explore(new AskingRun().asks('write'), DEPTH, ['step']);
  expect(states).toBeGreaterThan(300);
});

it('an answer to a question that is closed gives no event', () => {
  const run = new AskingRun().asks('write');
  run.answered({ approvalId: question(run), verdict: 'deny' });
  const again = { arguments: null, argumentsDigest: '', message: null, wholeGroup: false, ruleId: null };
  const answer = { ...again, approvalId: question(run), verdict: 'approve', decidedBy: 'user:late' } as const;
  expect(decideAnswer(run.run, answer, 1, 1)).toEqual([]);
});
