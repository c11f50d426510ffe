import type { ToolDefinition } from '@runyard/contracts';
import type { NewRunEvent } from '../decision';
import type { LiveRun } from '../run';
import { born } from './simulation';

// What runs of the trees are made of. Spec-only.

const askTool = (name: string, tokenBudget?: number): ToolDefinition => ({
  name,
  description: '',
  inputSchema: {},
  effect: 'read',
  idempotent: false,
  source: { kind: 'agent', agentId: 'helper', ...(tokenBudget === undefined ? {} : { tokenBudget }) },
  timeoutMs: 1,
  endsRun: false,
});
/** Tools that ask another agent. */
export const TOOLS = [askTool('ask'), askTool('ask_cheaply', 3_000)].map((one) => [one.name, one] as const);
const CALLS = ['ask', 'ask', 'ask_cheaply', 'read', 'put', 'write'];
/** A turn that asks for anything and costs anything up to its worst case. */
export function turnOf(run: LiveRun, random: () => number): NewRunEvent {
  if (run.phase.name !== 'calling_model') throw new Error('no call');
  const { step, attempt, worstCaseInput, maxOutputTokens } = run.phase;
  const calls = random() < 0.5 ? [] : Array.from({ length: 1 + Math.floor(random() * 3) });
  return {
    type: 'ModelTurnCompleted',
    data: {
      step,
      attempt,
      modelId: 'm',
      provider: 'p',
      model: 'm',
      text: { text: 't' },
      reasoning: null,
      toolCalls: calls.map((_, index) => ({
        callId: `c${step}-${index}`,
        providerCallId: '',
        tool: CALLS[Math.floor(random() * CALLS.length)] ?? 'read',
        arguments: { text: '{}' },
      })),
      providerReason: '',
      finish: 'stop',
      usage: {
        input: Math.floor(random() * (worstCaseInput + 1)),
        output: Math.floor(random() * (maxOutputTokens + 1)),
        cached: 0,
        estimated: false,
      },
      startedAt: 0,
      providerState: null,
    },
  };
}

export const queued = (id: string, over: object): NewRunEvent => {
  const { data } = born();
  return { type: 'RunQueued', data: { ...data, rootRunId: id, ...over } } as NewRunEvent;
};

/** Tokens of a run and all below it, as its end says. */
export const spendOf = ({ data }: NewRunEvent): number => {
  const spend = 'spend' in data ? data.spend : undefined;
  return spend ? spend.own + spend.children : 0;
};
