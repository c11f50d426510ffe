import type { RunEventFrame } from './api-client';

type Data = Record<string, unknown>;

/** Shows a run in the terminal as it goes on: one line an event that people care about. */
export class LiveRun {
  /** Texts of calls by call id, so that a result can be shown beside what was asked. */
  private readonly asked = new Map<string, string>();

  constructor(private readonly write: (line: string) => void) {}

  show({ type, data }: RunEventFrame): void {
    const line = this.line(type, data);
    if (line) this.write(`  ${line}`);
  }

  private line(type: string, data: Data): string | undefined {
    switch (type) {
      case 'RunQueued':
        return `question  ${textOf(data.input)}`;
      case 'ModelTurnCompleted':
        return this.turn(data);
      case 'BudgetSnapshotTaken':
        return `left      ${left(data)}`;
      case 'ToolCallSucceeded':
        return `tool      ${this.asked.get(String(data.callId)) ?? String(data.tool)} → ${short(textOf(data.observation))}`;
      case 'ToolCallFailed':
        return `tool      ${String(data.tool)} failed: ${short(textOf(data.observation))}`;
      case 'ModelCallFailed':
        return `model     failed: ${short(String((data.error as Data).text))}`;
      case 'RunRecovered':
        return 'recovered another executor goes on';
      case 'RunSucceeded':
        return `answer    ${textOf(data.output)}`;
      case 'RunFailed':
      case 'RunCancelled':
        return `ended     ${String(data.reason)} ${short(textOf(data.error))}`;
      default:
        return undefined;
    }
  }

  private turn(data: Data): string {
    const usage = data.usage as { input: number; output: number };
    const calls = data.toolCalls as { callId: string; tool: string; arguments: unknown }[];
    for (const call of calls) this.asked.set(call.callId, `${call.tool} ${short(textOf(call.arguments))}`);
    const does = calls.length ? `asks for ${calls.map((call) => call.tool).join(' and ')}` : 'answers';
    return `model     step ${String(data.step)}: ${does}  (${usage.input} tokens in, ${usage.output} out)`;
  }
}

function left(data: Data): string {
  const seconds = Math.floor(Number(data.milliseconds) / 1_000);
  const tokens = Number(data.tokens).toLocaleString('en-US');
  return `${String(data.steps)} steps, ${String(data.toolCalls)} tool calls, ${tokens} tokens, ${seconds} s`;
}

function textOf(stored: unknown): string {
  const { text, preview } = (stored ?? {}) as { text?: string; preview?: string };
  return text ?? preview ?? '';
}

const short = (text: string): string => (text.length > 140 ? `${text.slice(0, 137)}…` : text);
