import type { Bounds, ContinuedDecision, Extension, OpenCall, StoredText } from '@runyard/contracts';
import { BOUND_CEILINGS, Problem, terminationOf } from '@runyard/contracts';
import type { FailureReason } from '@runyard/contracts';
import type { ChatMessage } from './dialog';
import type { CallState, EndedRun, LiveRun } from './run';
import { openCallId } from './taken-over';
import { messagesOf } from './transcript';

/** How a run failed; null where it did not. */
export const terminationOfRun = ({ state, reason }: EndedRun): string | null =>
  state === 'failed' && reason !== null ? terminationOf(reason as FailureReason) : null;

/** Whether more steps, calls, tokens or time would have let a run go on. */
export const isOutOfBudget = (run: EndedRun): boolean =>
  terminationOfRun(run) === 'BudgetExceeded' || run.reason === 'deadline';

/** Refuses to continue a run that did not have to stop for budget or for a person. */
export function requireContinuable(run: EndedRun, decided: boolean): void {
  const facts = { state: run.state, reason: run.reason };
  if (run.deleted) throw new Problem('not_found', 'There is no such run.');
  if (terminationOfRun(run) === 'ConfirmationPending') {
    if (decided) return;
    throw new Problem(
      'run_not_controllable',
      'The run ended for want of a decision; continue it with one.',
      facts,
    );
  }
  if (isOutOfBudget(run)) {
    if (!decided) return;
    throw new Problem(
      'run_not_controllable',
      'The run did not end for want of a decision; extend it.',
      facts,
    );
  }
  throw new Problem(
    'run_not_controllable',
    'Only a run that ended for budget or for want of a decision is continued; fork it, or try it again.',
    facts,
  );
}

/** What is left of the bounds of a run that ended, and what it is extended by; refused where one of them is used up. */
export function boundsLeft(run: LiveRun, extend: Extension = {}): Bounds {
  const { bounds, steps, toolCalls, grantTokens, usedTokens, usedMilliseconds } = run;
  const { tokens = 0, seconds = 0, steps: moreSteps = 0, tool_calls: moreCalls = 0 } = extend;
  const left: Bounds = {
    maxSteps: bounds.maxSteps - steps + moreSteps,
    maxToolCalls: bounds.maxToolCalls - toolCalls + moreCalls,
    tokenBudget: grantTokens - usedTokens + tokens,
    deadlineSeconds: Math.floor(bounds.deadlineSeconds - usedMilliseconds / 1_000) + seconds,
    maxDepth: bounds.maxDepth,
  };
  const used = USED_UP.filter(([bound]) => left[bound] < 1);
  if (used.length > 0)
    throw new Problem('invalid_request', 'Nothing is left of a bound that the run is not extended by', {
      errors: used.map(([, field]) => ({ pointer: `/${field}`, detail: 'is used up and must be raised' })),
    });
  const most = (bound: keyof Bounds): number => Math.min(left[bound], BOUND_CEILINGS[bound]);
  return {
    maxSteps: most('maxSteps'),
    maxToolCalls: most('maxToolCalls'),
    tokenBudget: most('tokenBudget'),
    deadlineSeconds: most('deadlineSeconds'),
    maxDepth: left.maxDepth,
  };
}

const USED_UP: readonly [keyof Bounds, string][] = [
  ['maxSteps', 'steps'],
  ['maxToolCalls', 'tool_calls'],
  ['tokenBudget', 'tokens'],
  ['deadlineSeconds', 'seconds'],
];

/** A decision as it goes along with a continuation; who decided is known from the credential of who continues. */
export interface Continued {
  decision: ContinuedDecision;
  decidedBy: string;
  /** Digest of the edited arguments; null: as asked. */
  digest: string | null;
  grantExpiresAt: number;
}

const UNKNOWN = 'Interrupted: the run ended before the outcome of this call was known.';

/** The calls of the turn that a run had to leave open, under ids of the run that goes on. */
export function openCalls(run: LiveRun, answer: Continued | null): OpenCall[] {
  if (run.phase.name !== 'calling_tools') return [];
  const calls = run.phase.calls;
  if (answer && !calls.some((call) => call.question?.approvalId === answer.decision.approval_id))
    throw new Problem('not_found', 'The run did not end with that question open', {
      errors: [{ pointer: '/approval_id', detail: 'is not open in the run' }],
    });
  return calls.map((call, index) => {
    const callId = openCallId(index);
    const plain = { callId, tool: call.tool, arguments: { text: call.arguments }, grant: null };
    if (call.status === 'settled')
      return { ...plain, observation: { text: call.observation ?? '' }, outcome: call.outcome };
    if (answer && call.question?.approvalId === answer.decision.approval_id)
      return { ...plain, ...answered(call, answer) };
    if (call.status === 'ambiguous' || call.status === 'in_flight' || call.question?.kind === 'ambiguous')
      return { ...plain, observation: { text: UNKNOWN }, outcome: 'failed' };
    return { ...plain, observation: null, outcome: null };
  });
}

type Answered = Pick<OpenCall, 'observation' | 'outcome'> & Partial<OpenCall>;

function answered(call: CallState, answer: Continued): Answered {
  const { verdict, message } = answer.decision;
  const said = (preset: string): StoredText => ({ text: message ?? preset });
  switch (verdict) {
    case 'approve':
    case 'repeat':
      return granted(call, answer);
    case 'deny':
      return { observation: said('Denied by a reviewer, not run.'), outcome: 'denied' };
    case 'done':
      return { observation: said('Done; a person has looked.'), outcome: 'succeeded' };
    case 'fail':
      return { observation: said('Error: the call failed; a person has looked.'), outcome: 'failed' };
    default:
      return verdict satisfies never;
  }
}

function granted(call: CallState, { decision, decidedBy, digest, grantExpiresAt }: Continued): Answered {
  const { ruleId = null, groupKey = null, argumentsDigest = '', policyVersion = 0 } = call.question ?? {};
  const edited = decision.arguments;
  const grant = {
    approvalId: decision.approval_id,
    argumentsDigest: digest ?? argumentsDigest,
    decision: { decidedBy, ruleId, groupKey },
    policyVersion,
    expiresAt: grantExpiresAt,
    edited: edited !== undefined,
  };
  const args = edited === undefined ? {} : { arguments: { text: JSON.stringify(edited) } };
  return { observation: null, outcome: null, grant, ...args };
}

/** The dialog of a run that goes on: calls of an open turn carry the ids under which they are answered there. */
export function continuedDialog(run: LiveRun, callPrefix: string): readonly ChatMessage[] {
  const messages = messagesOf(run.transcript);
  const last = messages.at(-1);
  if (run.phase.name !== 'calling_tools' || last?.role !== 'assistant') return messages;
  const toolCalls = last.toolCalls.map((call, index) => ({
    ...call,
    callId: callPrefix + openCallId(index),
  }));
  return [...messages.slice(0, -1), { ...last, toolCalls }];
}
