import type { RunEvent } from '@runyard/contracts';

/** What a request to cancel found under way, and what became of it. */
export interface StoppedEffect {
  kind: 'model_call' | 'tool_call';
  step: number;
  /** Model or tool. */
  name: string;
  callId: string | null;
  /** `open`: nothing is known of it yet. */
  outcome: 'completed' | 'failed' | 'cancelled' | 'ambiguous' | 'open';
}

/** Who wanted a run to end, and when. */
export interface CancelRequest {
  time: number;
  reason: string;
  actor: string;
}

/** What a request to cancel came to in one run. */
export interface CancellationReceipt {
  /** Its own request; null where nobody has asked this run. */
  requested: CancelRequest | null;
  /** Time of its last event; null: its end is not in its log, so that nobody may call it quiet. */
  quietAt: number | null;
  stopped: StoppedEffect[];
  /** Calls that the model had asked for and that were never sent. */
  notSent: number;
  tokensAfter: number;
  /** Part of them that no provider reported. */
  estimatedAfter: number;
}

const ENDS: ReadonlySet<RunEvent['type']> = new Set([
  'RunSucceeded',
  'RunFailed',
  'RunCancelled',
  'RunSkipped',
]);

/** The first request; a run that was ended without being asked first says it in its end. */
export function cancelRequestOf(events: readonly RunEvent[]): CancelRequest | null {
  const asked =
    events.find((event) => event.type === 'RunCancelRequested') ??
    events.find((event) => event.type === 'RunCancelled');
  if (asked?.type !== 'RunCancelRequested' && asked?.type !== 'RunCancelled') return null;
  return { time: asked.time, reason: asked.data.reason, actor: asked.actor };
}

/**
 * What a cancel came to, as the run's own log has it. `since`: when the root of the receipt was asked, epoch milliseconds;
 * what runs below it spend from then on counts, though the request reaches them later.
 */
export function receiptOf(events: readonly RunEvent[], since: number): CancellationReceipt {
  const requested = cancelRequestOf(events);
  const own = events.findIndex((event) => event.type === 'RunCancelRequested');
  const later = events.findIndex((event) => event.time > since);
  const cut = Math.min(own === -1 ? events.length : own + 1, later === -1 ? events.length : later);
  const [before, after] = [events.slice(0, cut), events.slice(cut)];
  const usages = after.flatMap((event) =>
    event.type === 'ModelTurnCompleted' || event.type === 'ModelCallFailed' ? [event.data.usage] : [],
  );
  const sum = (of: typeof usages) => of.reduce((total, { input, output }) => total + input + output, 0);
  return {
    requested,
    quietAt: events.find(({ type }) => ENDS.has(type))?.time ?? null,
    stopped: underWay(before).map((effect) => ({ ...effect, outcome: outcomeOf(effect, after) })),
    notSent: unsent(before, after),
    tokensAfter: sum(usages),
    estimatedAfter: sum(usages.filter(({ estimated }) => estimated)),
  };
}

type Effect = Omit<StoppedEffect, 'outcome'>;

function underWay(events: readonly RunEvent[]): Effect[] {
  const open = new Map<string, Effect>();
  for (const event of events) {
    const key = keyOf(event);
    if (key === null) continue;
    const begun = effectOf(event);
    if (begun) open.set(key, begun);
    else open.delete(key);
  }
  return [...open.values()];
}

/** Delegated calls are runs of their own and have their own line. */
function effectOf(event: RunEvent): Effect | null {
  if (event.type === 'ModelCallStarted')
    return { kind: 'model_call', step: event.data.step, name: event.data.model, callId: null };
  if (event.type !== 'ToolCallStarted') return null;
  const { step, tool, callId } = event.data;
  return { kind: 'tool_call', step, name: tool, callId };
}

const MODEL = 'model';

function keyOf(event: RunEvent): string | null {
  switch (event.type) {
    case 'ModelCallStarted':
    case 'ModelTurnCompleted':
    case 'ModelCallFailed':
      return MODEL;
    case 'ToolCallStarted':
    case 'ToolCallSucceeded':
    case 'ToolCallFailed':
    case 'ToolCallDenied':
    case 'ToolCallCancelled':
    case 'ToolCallAmbiguous':
      return event.data.callId;
    default:
      return null;
  }
}

function outcomeOf({ callId }: Effect, after: readonly RunEvent[]): StoppedEffect['outcome'] {
  const result = after.find((event) => keyOf(event) === (callId ?? MODEL));
  switch (result?.type) {
    case 'ModelTurnCompleted':
    case 'ToolCallSucceeded':
      return 'completed';
    case 'ModelCallFailed':
      return result.data.error.code === 'cancelled' ? 'cancelled' : 'failed';
    case 'ToolCallFailed':
    case 'ToolCallDenied':
      return 'failed';
    case 'ToolCallCancelled':
      return 'cancelled';
    case 'ToolCallAmbiguous':
      return 'ambiguous';
    default:
      return 'open';
  }
}

function unsent(before: readonly RunEvent[], after: readonly RunEvent[]): number {
  const sent = new Set(
    before.flatMap((event) => (event.type === 'ToolCallStarted' ? [event.data.callId] : [])),
  );
  return after.filter((event) => event.type === 'ToolCallCancelled' && !sent.has(event.data.callId)).length;
}
