import type { Run } from '@runyard/client';

/** A call that a model asked for. */
export interface ObservedCall {
  tool: string;
  arguments: string;
  /** False where it was denied or cancelled. */
  made: boolean;
}

/** What a suite judges of a run. */
export interface Observation {
  runId: string;
  agentId: string;
  agentVersion: number;
  state: string;
  termination: string | null;
  reason: string | null;
  output: string;
  calls: ObservedCall[];
  steps: number;
  tokens: number;
  /** Texts of which the record shows only the beginning: a leak further on would go unseen. */
  cut: string[];
}

type Entry = Readonly<Record<string, unknown>>;
interface RequestedCall {
  call_id: string;
  tool: string;
  arguments: unknown;
}

const NOT_MADE: ReadonlySet<unknown> = new Set(['denied', 'cancelled']);

/** Reads an ended run out of its row and its trajectory. */
export function observationOf(run: Run, entries: readonly Entry[]): Observation {
  const cut: string[] = [];
  const whole = (text: unknown, what: string): string => {
    if (typeof text === 'string') return text;
    const { preview } = (text ?? {}) as { preview?: string };
    if (preview !== undefined) cut.push(what);
    return preview ?? '';
  };
  const outcomes = new Map(entries.filter(isResult).map(({ call_id, outcome }) => [call_id, outcome]));
  const turns = entries.filter(({ kind, role }) => kind === 'message' && role === 'assistant');
  const calls = turns.flatMap(({ tool_calls }) => (tool_calls ?? []) as RequestedCall[]);
  return {
    runId: run.run_id,
    agentId: run.agent_id,
    agentVersion: run.agent_version,
    state: run.state,
    termination: run.termination,
    reason: run.reason,
    output: whole(run.output ?? '', 'the output'),
    calls: calls.map(({ call_id, tool, arguments: given }) => ({
      tool,
      arguments: whole(given, `the arguments of ${call_id}`),
      made: outcomes.has(call_id) && !NOT_MADE.has(outcomes.get(call_id)),
    })),
    steps: run.steps,
    tokens: turns.reduce((sum, { usage }) => sum + tokensOf(usage), 0),
    cut,
  };
}

const isResult = ({ kind }: Entry): boolean => kind === 'tool_result';

function tokensOf(usage: unknown): number {
  const { input = 0, output = 0 } = (usage ?? {}) as { input?: number; output?: number };
  return input + output;
}
