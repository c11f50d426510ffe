import type { ModelTurnCompleted, NewEvent, RunQueued, StoredText, TokenUsage } from '@runyard/contracts';
import { EPOCH, ORG, USER } from './run-log';
import type { RunLog } from './run-log';
import { callStarted, callSucceeded } from './sample-calls';
import { event, text } from './sample-texts';
import type { DataOf } from './sample-texts';

export const usage = (input = 100, output = 20, cached = 0, estimated = false): TokenUsage => ({
  input,
  output,
  cached,
  estimated,
});

/** A run as intake queues it; `slot` defaults to the agent's. */
export function queued(id: string, changed: Partial<DataOf<RunQueued>> = {}): NewEvent {
  const agentId = changed.agentId ?? 'librarian';
  return event('RunQueued', {
    agentId,
    agentVersion: 1,
    ownerId: USER,
    userId: USER,
    requestedBy: `user:${USER}`,
    trigger: 'manual',
    parentRunId: null,
    rootRunId: id,
    depth: 0,
    conversationId: null,
    tier: 'fast',
    requestDigest: `request of ${id}`,
    input: text('What is due today?'),
    definition: 'd'.repeat(64),
    settings: {
      bounds: { maxSteps: 25, maxToolCalls: 100, tokenBudget: 200_000, deadlineSeconds: 3_600, maxDepth: 3 },
      mode: 'ask',
      approvalPolicy: 'park',
    },
    grantTokens: 200_000,
    previousRunId: null,
    slot: null,
    ...changed,
  });
}

export const skipped = (id: string, holder: string | null = null): NewEvent => {
  const { data } = queued(id);
  const {
    input: _i,
    definition: _d,
    settings: _s,
    grantTokens: _g,
    previousRunId: _p,
    slot: _l,
    ...identity
  } = data as DataOf<RunQueued>;
  return event('RunSkipped', { ...identity, reason: 'already_running', holder });
};

export const started = (epoch = 1, instance = 'executor-1'): NewEvent =>
  event('RunStarted', { epoch, instance });
export const recovered = (epoch: number, instance: string): NewEvent =>
  event('RunRecovered', { epoch, instance, evidence: 'no_responders' });

export const snapshot = (steps = 24): NewEvent =>
  event('BudgetSnapshotTaken', {
    steps,
    toolCalls: 99,
    tokens: 199_000,
    milliseconds: 3_599_000,
    weeklyTokens: null,
    usedMilliseconds: 1_000,
  });

export const calling = (step: number, attempt = 1): NewEvent =>
  event('ModelCallStarted', {
    step,
    attempt,
    modelId: 'small',
    provider: 'recorded',
    model: 'small-1',
    worstCaseInput: 500,
    maxOutputTokens: 1_000,
    omittedMessages: 0,
  });

export const attemptFailed = (step: number, attempt = 1, used = usage(0, 0)): NewEvent =>
  event('ModelCallFailed', {
    step,
    attempt,
    modelId: 'small',
    error: { code: 'rate_limited', text: 'slow down', status: 429 },
    partialText: null,
    usage: used,
    next: 'retry',
    retryInMs: 100,
  });

/** The calls that a turn asks for. */
export const asked = (
  step: number,
  tools: readonly string[],
  argumentsOf = (tool: string): StoredText => text(`{"query": "${tool} ${step}"}`),
): DataOf<ModelTurnCompleted>['toolCalls'] =>
  tools.map((tool, index) => ({
    callId: `c${step}-${index}`,
    providerCallId: `call_${index}`,
    tool,
    arguments: argumentsOf(tool),
  }));

/** A turn of the model that asks for the named tools, as calls `c<step>-0`, `c<step>-1` and so on. */
export function turn(
  step: number,
  tools: readonly string[],
  changed: Partial<DataOf<ModelTurnCompleted>> = {},
  startedAt = EPOCH,
): NewEvent {
  return event('ModelTurnCompleted', {
    step,
    attempt: 1,
    modelId: 'small',
    provider: 'recorded',
    model: 'small-1',
    text: tools.length === 0 ? text('Nothing is due.') : null,
    reasoning: null,
    toolCalls: asked(step, tools),
    providerReason: tools.length === 0 ? 'stop' : 'tool_calls',
    finish: tools.length === 0 ? 'stop' : 'tool_calls',
    usage: usage(),
    startedAt,
    providerState: null,
    ...changed,
  });
}

export const succeeded = (output: StoredText = text('Nothing is due.')): NewEvent =>
  event('RunSucceeded', { output });
export const failed = (): NewEvent =>
  event('RunFailed', {
    termination: 'Error',
    reason: 'provider_unavailable',
    error: { code: 'provider_unavailable', text: 'gone' },
  });
export const cancelled = (): NewEvent => event('RunCancelled', { reason: 'user' });
export const cancelRequested = (): NewEvent => event('RunCancelRequested', { reason: 'user' });
export const pauseRequested = (): NewEvent => event('RunPauseRequested', {});
export const paused = (expiresAt = EPOCH + 86_400_000): NewEvent => event('RunPaused', { expiresAt });
export const resumed = (): NewEvent => event('RunResumed', {});
export const extended = (): NewEvent =>
  event('RunExtended', { steps: 5, toolCalls: 1, tokens: 1_000, seconds: 60 });
export const modeSet = (): NewEvent => event('RunModeSet', { mode: 'auto' });
export const deleted = (agentId = 'librarian'): NewEvent => event('RunDeleted', { agentId });
export const conversationCreated = (title = 'Books', userId: string | null = USER): NewEvent => ({
  type: 'ConversationCreated',
  data: { userId, title },
});
export const conversationDeleted = (): NewEvent => ({ type: 'ConversationDeleted', data: {} });

/** A run of `iterations` model turns as the executor writes it: two commits an iteration, the first and last merged with start and end. */
export function typicalRun(
  log: RunLog,
  id: string,
  iterations = 10,
  changed: Partial<DataOf<RunQueued>> = {},
  org = ORG,
): void {
  for (const events of typicalCommits(id, iterations, changed)) log.run(id, events, 10, org);
}

/** The commits of a {@link typicalRun}, to be interleaved with others. */
export function typicalCommits(
  id: string,
  iterations = 10,
  changed: Partial<DataOf<RunQueued>> = {},
): NewEvent[][] {
  const commits: NewEvent[][] = [[queued(id, changed)], [started(), snapshot(), calling(1)]];
  for (let step = 1; step < iterations; step++) {
    const callId = `c${step}-0`;
    commits.push([turn(step, ['search']), snapshot(), callStarted(callId, 'search')]);
    commits.push([callSucceeded(callId, 'search'), snapshot(), calling(step + 1)]);
  }
  commits.push([turn(iterations, []), succeeded()]);
  return commits;
}
