import type { ErrorInfo, FailureReason, RunEvent, StoredText } from '@runyard/contracts';
import { terminationOf } from '@runyard/contracts';
import { callModel, capReached, tokenCap } from './bounds';
import { grantChildren } from './carving';
import { freeTokens, onlyChildren, openChildren, waitsForChildren } from './children';
import type { Circumstances, NewRunEvent } from './decision';
import { decideCalls } from './effects';
import { fold } from './evolve';
import { NO_MATERIAL, shownText } from './material';
import { doomed, ruined } from './ruin';
import { isLive, usedMilliseconds } from './run';
import type { CallState, LiveRun, Run } from './run';
import { spentBy } from './spend';
import type { TerminalEvent } from './spend';

/** Whether an effect is under way, so that the next decision waits for what becomes of it. */
export const inFlight = (run: LiveRun): boolean =>
  run.phase.name === 'calling_model' ||
  (run.phase.name === 'calling_tools' && run.phase.calls.some((call) => call.status === 'in_flight'));

/**
 * Everything that follows from where a run stands, until it must wait: for an effect under way, for a time, for a person,
 * or for ever. A function of the recorded events and `now` alone, so any process may continue any run.
 */
export const decideAll = (run: Run, at: Circumstances): NewRunEvent[] => decideThrough(run, at).events;

/** As {@link decideAll}, and where the run stands after it, if the events get the time `at.now`. */
export function decideThrough(
  run: Run,
  at: Circumstances,
  material = NO_MATERIAL,
): { events: NewRunEvent[]; after: Run } {
  const decided: NewRunEvent[] = [];
  let after = run;
  while (isLive(after)) {
    const events = decideNext(after, at);
    if (events.length === 0) break;
    decided.push(...events);
    after = foldNew(after, events, at.now, material);
  }
  return { events: decided, after };
}

/** Folds events that are not appended yet, as of `now`. */
export const foldNew = (run: Run, events: readonly NewRunEvent[], now: number, material = NO_MATERIAL): Run =>
  fold(
    run,
    events.map((event) => dated(event, now)),
    material,
  );

export const dated = ({ type, data }: NewRunEvent, time: number): RunEvent =>
  ({ type, data, time, actor: 'system:run-executor' }) as RunEvent;

function decideNext(run: LiveRun, at: Circumstances): NewRunEvent[] {
  if (run.situation !== 'running' || run.woken) return [];
  if (inFlight(run)) return amidEffects(run, at);
  // What was asked before the answer arrived wins over the answer: the cancel lies ahead of it in the log.
  if (run.cancelRequested)
    return end(run, { type: 'RunCancelled', data: { reason: run.cancelRequested.reason } });
  if (run.phase.name === 'answered') return end(run, answer(run.phase));
  if (run.phase.name === 'gave_up') return fail(run, providerReason(run.phase.error.code), run.phase.error);
  // A provider may count more than the worst case: what was paid for is recorded, and nothing follows from it (P6.2).
  if (freeTokens(run) < 0 || run.starved) return failCap(run, tokenCap(run));
  const spoilt = ruined(run);
  if (spoilt) return fail(run, 'tool_failure', spoilt);
  if (run.expiredQuestion) return fail(run, 'approval_expired', run.expiredQuestion);
  if (usedMilliseconds(run, at.now) >= run.bounds.deadlineSeconds * 1_000) return failCap(run, 'deadline');
  const handedOff = handOff(run, at);
  if (handedOff)
    return end(run, { type: 'RunSucceeded', data: { output: { text: handedOff.observation ?? '' } } });
  if (run.pauseRequested) return [{ type: 'RunPaused', data: { expiresAt: at.now + at.pauseTtlMs } }];
  return proceed(run, at);
}

function proceed(run: LiveRun, at: Circumstances): NewRunEvent[] {
  if (run.phase.name === 'calling_tools') {
    const { events, end: ends } = decideCalls(run, run.phase, at);
    if (ends) return [...events, ...fail(run, ends.reason, ends.error)];
    return events.length > 0 ? grantChildren(run, events, at) : park(run.phase.calls);
  }
  if (run.phase.name === 'backing_off' && run.phase.until > at.now) return [];
  const call = callModel(run, at);
  return call.cap ? failCap(run, call.cap) : call.events;
}

/** With nothing under way and nothing due but answers of people, the run waits for those without a driver. */
function park(calls: readonly CallState[]): NewRunEvent[] {
  const open = calls.flatMap(({ question }) => (question ? [question] : []));
  if (open.length === 0 || calls.some((call) => call.status !== 'awaiting' && call.status !== 'settled'))
    return [];
  const expiresAt = Math.min(...open.map((question) => question.expiresAt));
  const approvalIds = open.map((question) => question.approvalId);
  return [{ type: 'RunAwaitingApproval', data: { approvalIds, expiresAt } }];
}

/**
 * What can be decided while something is under way: calls that are due again, questions about lost ones, and whether to
 * wait without a driver.
 */
function amidEffects(run: LiveRun, at: Circumstances): NewRunEvent[] {
  const due = startDueCalls(run, at);
  if (due.length > 0 || run.cancelRequested || doomed(run) || !onlyChildren(run)) return due;
  const beside = besideChildren(run, at);
  if (beside.length > 0) return beside;
  return waitsForChildren(run)
    ? [{ type: 'RunAwaitingChildren', data: { children: openChildren(run).length } }]
    : [];
}

/** What became of a call is asked while children go on, so that they are not waited for twice. */
function besideChildren(run: LiveRun, at: Circumstances): NewRunEvent[] {
  if (run.phase.name !== 'calling_tools' || run.pauseRequested) return [];
  const lost = run.phase.calls.filter((call) => call.status === 'ambiguous');
  if (lost.length === 0) return [];
  const { events, end: ends } = decideCalls(run, { ...run.phase, calls: lost }, at);
  return ends ? [] : events;
}

/** While some calls run, others of the same turn may become due for another attempt; those that wait for a place go on waiting. */
function startDueCalls(run: LiveRun, at: Circumstances): NewRunEvent[] {
  if (run.phase.name !== 'calling_tools' || run.cancelRequested || run.pauseRequested) return [];
  const begun = run.phase.calls.filter((call) => call.status !== 'undecided');
  const due = begun.some(
    (call) => (call.status === 'backing_off' && call.retryAt <= at.now) || call.status === 'approved',
  );
  return due ? grantChildren(run, decideCalls(run, { ...run.phase, calls: begun }, at).events, at) : [];
}

function answer(phase: { output: StoredText; finish: string }): TerminalEvent {
  if (phase.finish === 'refusal')
    return failed('model_refused', {
      code: 'model_refused',
      text: shownText(phase.output) || 'The model refused to answer.',
    });
  if (phase.finish === 'content_filter')
    return failed('content_filtered', {
      code: 'content_filtered',
      text: 'The provider filtered the answer.',
    });
  return { type: 'RunSucceeded', data: { output: phase.output } };
}

const handOff = (run: LiveRun, at: Circumstances): CallState | undefined =>
  run.phase.name === 'ready'
    ? run.phase.after.find(
        (call) => call.outcome === 'succeeded' && at.tools.get(call.tool)?.endsRun === true,
      )
    : undefined;

const failCap = (run: LiveRun, reason: FailureReason): NewRunEvent[] =>
  fail(run, reason, { code: reason, text: capReached(run, reason) });

const fail = (run: LiveRun, reason: FailureReason, error: ErrorInfo): NewRunEvent[] =>
  end(run, failed(reason, error));

const failed = (reason: FailureReason, error: ErrorInfo): TerminalEvent => ({
  type: 'RunFailed',
  data: { termination: terminationOf(reason), reason, error },
});

/**
 * The end of a run, the only place where terminal events are made: what was lost (`lost`) and every call that was asked
 * for and never sent are recorded first, then the end and what the run has spent.
 */
export function end(run: LiveRun, terminal: TerminalEvent, lost: readonly NewRunEvent[] = []): NewRunEvent[] {
  return [...lost, ...unsent(run), spentBy(run, terminal, lost)];
}

const UNSENT: ReadonlySet<CallState['status']> = new Set([
  'undecided',
  'backing_off',
  'awaiting',
  'approved',
]);

/** Whether the question about a call is what became of it: it was sent once. */
const isLost = ({ question, grant, status }: CallState): boolean =>
  question?.kind === 'ambiguous' || (status === 'approved' && grant?.kind === 'ambiguous');

function unsent(run: LiveRun): NewRunEvent[] {
  if (run.phase.name !== 'calling_tools') return [];
  const { step, calls } = run.phase;
  return calls
    .filter((call) => UNSENT.has(call.status) && !isLost(call))
    .map(({ callId, tool }) => ({
      type: 'ToolCallCancelled',
      data: { step, callId, tool, observation: { text: 'Not run: the run ended first.' }, startedAt: null },
    }));
}

const PROVIDER_REASONS: Readonly<Record<string, FailureReason>> = {
  provider_auth: 'provider_auth',
  provider_invalid: 'provider_invalid',
  recording_differs: 'provider_invalid',
};

const providerReason = (code: string): FailureReason => PROVIDER_REASONS[code] ?? 'provider_unavailable';
