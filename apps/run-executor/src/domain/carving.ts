import type { Bounds, ErrorInfo, ToolSource } from '@runyard/contracts';
import { freeTokens, openChildren } from './children';
import type { Circumstances, NewRunEvent } from './decision';
import { usedMilliseconds } from './run';
import type { LiveRun } from './run';
import { byteLength } from './transcript';

/** Less is no grant: the first call of any model costs more. */
export const SMALLEST_GRANT = 100;
/** Bytes of arguments that a child may be given; its request must fit a message of the bus. */
export const LARGEST_TASK = 256 * 1024;

type Start = Extract<NewRunEvent, { type: 'ToolCallStarted' }>;
type AgentSource = Extract<ToolSource, { kind: 'agent' }>;

interface Wish {
  start: Start;
  source: AgentSource;
  endsRun: boolean;
}

/**
 * Goes over the calls that are about to be dispatched: each of an agent tool gets a child with a grant in the same commit,
 * or is refused as an observation of the model. Other calls pass as they are.
 *
 * The rule of carving: a tool with a budget of its own gets that, or what is free when less; the others share what is
 * then free equally, and the parent keeps one share for itself. A child's other bounds are what the parent has left.
 */
export function grantChildren(
  run: LiveRun,
  events: readonly NewRunEvent[],
  at: Circumstances,
): NewRunEvent[] {
  const wishes = events.flatMap((event) => wishOf(run, event, at) ?? []);
  if (wishes.length === 0) return [...events];
  const refusals = new Map<Start, ErrorInfo>();
  let places = at.parallelChildren - openChildren(run).length;
  for (const wish of wishes) {
    const refusal = refusalOf(run, wish, places, at);
    if (refusal) refusals.set(wish.start, refusal);
    else places -= 1;
  }
  const accepted = wishes.filter(({ start }) => !refusals.has(start));
  const grants = carve(freeTokens(run), accepted);
  for (const { start } of accepted)
    if ((grants.get(start) ?? 0) < SMALLEST_GRANT) refusals.set(start, NOTHING_LEFT);
  const bounds = boundsLeft(run, events, at.now);
  return events.flatMap((event) => {
    const wish = wishes.find(({ start }) => start === event);
    if (!wish) return [event];
    const refusal = refusals.get(wish.start);
    if (refusal) return [refused(wish.start, refusal, at.now)];
    return [granted(run, wish, grants.get(wish.start) ?? 0, bounds, at), event];
  });
}

/** A child that was granted in a commit of which only the beginning came about is not granted again. */
function wishOf(run: LiveRun, event: NewRunEvent, at: Circumstances): Wish | undefined {
  if (event.type !== 'ToolCallStarted') return undefined;
  if (openChildren(run).some(({ callId }) => callId === event.data.callId)) return undefined;
  const tool = at.tools.get(event.data.tool);
  return tool?.source.kind === 'agent'
    ? { start: event, source: tool.source, endsRun: tool.endsRun }
    : undefined;
}

function refusalOf(run: LiveRun, wish: Wish, places: number, at: Circumstances): ErrorInfo | undefined {
  const { maxDepth, maxSteps } = run.bounds;
  if (run.identity.depth + 1 > maxDepth)
    return {
      code: 'depth_cap',
      text: `Delegation may go ${maxDepth} deep, and this run is at ${run.identity.depth}. Do the work yourself.`,
    };
  if (places <= 0)
    return {
      code: 'children_cap',
      text: `A run may have ${at.parallelChildren} subagents at a time. Ask again when some have answered.`,
    };
  if (run.steps >= maxSteps && !wish.endsRun)
    return { code: 'iteration_cap', text: 'No step is left in which an answer could be read.' };
  const { phase } = run;
  const call =
    phase.name === 'calling_tools'
      ? phase.calls.find(({ callId }) => callId === wish.start.data.callId)
      : undefined;
  if (call && byteLength(call.arguments) > LARGEST_TASK)
    return {
      code: 'too_large',
      text: `A task may have ${LARGEST_TASK} bytes. Shorten it, or name where it can be read.`,
    };
  return undefined;
}

const NOTHING_LEFT: ErrorInfo = {
  code: 'token_budget',
  text: 'Too few tokens are left for a subagent. Finish with what you have.',
};

/** Tokens for each; their sum never exceeds what is free. */
function carve(free: number, wishes: readonly Wish[]): Map<Start, number> {
  const grants = new Map<Start, number>();
  let left = Math.max(0, free);
  for (const { start, source } of wishes) {
    if (source.tokenBudget === undefined) continue;
    const grant = Math.min(source.tokenBudget, left);
    grants.set(start, grant);
    left -= grant;
  }
  const sharing = wishes.filter(({ source }) => source.tokenBudget === undefined);
  const share = Math.floor(left / (sharing.length + 1));
  for (const { start } of sharing) grants.set(start, share);
  return grants;
}

/** What the run has left of its bounds once these events are recorded. */
function boundsLeft(run: LiveRun, events: readonly NewRunEvent[], now: number): Omit<Bounds, 'tokenBudget'> {
  const { bounds } = run;
  const dispatched = events.filter((event) => event.type === 'ToolCallStarted').length;
  const secondsLeft = Math.ceil(bounds.deadlineSeconds - usedMilliseconds(run, now) / 1_000);
  return {
    maxSteps: Math.max(1, bounds.maxSteps - run.steps),
    maxToolCalls: Math.max(0, bounds.maxToolCalls - run.toolCalls - dispatched),
    deadlineSeconds: Math.max(1, secondsLeft),
    maxDepth: bounds.maxDepth,
  };
}

function granted(
  run: LiveRun,
  { start: { data }, source }: Wish,
  grantTokens: number,
  bounds: Omit<Bounds, 'tokenBudget'>,
  at: Circumstances,
): NewRunEvent {
  const { step, callId, tool, attempt } = data;
  return {
    type: 'ChildGranted',
    data: {
      step,
      callId,
      tool,
      childRunId: at.childRunId(callId, attempt),
      agentId: source.agentId,
      attempt,
      grantTokens,
      bounds: { ...bounds, tokenBudget: grantTokens },
      mode: run.mode,
    },
  };
}

function refused({ data }: Start, error: ErrorInfo, now: number): NewRunEvent {
  const { step, callId, tool } = data;
  return {
    type: 'ToolCallFailed',
    data: {
      step,
      callId,
      tool,
      error,
      observation: { text: `Error: ${error.text}` },
      startedAt: now,
      attempt: 0,
      willRetry: false,
      retryInMs: 0,
    },
  };
}
