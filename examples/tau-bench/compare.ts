import type { SourceMessage } from './source';

interface EntryCall {
  call_id: string;
  provider_call_id: string;
  tool: string;
  arguments: string;
}

/** An entry of a run's trajectory (`agent_runs.entries`), as far as the comparison reads it. */
export interface Entry {
  kind: string;
  role?: 'user' | 'assistant';
  content?: string | null;
  tool_calls?: EntryCall[];
  call_id?: string;
  tool?: string;
}

/** Rebuilds the messages of a dialog from what the product recorded of its runs. */
export function messagesFrom(trajectories: readonly (readonly Entry[])[]): SourceMessage[] {
  return trajectories.flatMap((entries) => {
    const asked = new Map(
      entries.flatMap((entry) => entry.tool_calls ?? []).map((call) => [call.call_id, call]),
    );
    return entries.flatMap((entry): SourceMessage[] => {
      if (entry.kind === 'tool_result') return [resultOf(entry, asked)];
      return entry.kind === 'message' ? [messageOf(entry)] : [];
    });
  });
}

function resultOf(entry: Entry, asked: ReadonlyMap<string, EntryCall>): SourceMessage {
  const call = asked.get(entry.call_id ?? '');
  return {
    role: 'tool',
    tool_call_id: call?.provider_call_id,
    name: entry.tool,
    content: entry.content ?? null,
  };
}

function messageOf({ role = 'user', content = null, tool_calls }: Entry): SourceMessage {
  if (!tool_calls?.length) return { role, content };
  const calls = tool_calls.map((call) => ({
    id: call.provider_call_id,
    type: 'function',
    function: { name: call.tool, arguments: call.arguments },
  }));
  return { role, content, tool_calls: calls };
}

/** The first message that differs, described; undefined where both are equal, byte for byte. */
export function firstDifference(
  recorded: readonly SourceMessage[],
  source: readonly SourceMessage[],
): string | undefined {
  for (let index = 0; index < Math.max(recorded.length, source.length); index++) {
    const [ours, theirs] = [recorded[index], source[index]].map(
      (message) => message && JSON.stringify(normal(message)),
    );
    if (ours !== theirs) return `message ${index}: recorded ${excerpt(ours)}, source ${excerpt(theirs)}`;
  }
  return undefined;
}

/** The order of keys is the writer's; names and values are compared as they are. */
const normal = ({ role, content, name, tool_call_id, tool_calls }: SourceMessage) => [
  role,
  content,
  name ?? null,
  tool_call_id ?? null,
  (tool_calls ?? []).map((call) => [call.id, call.type, call.function.name, call.function.arguments]),
];

const excerpt = (text: string | undefined): string => (text === undefined ? 'nothing' : text.slice(0, 300));

/** pass^k: the mean over tasks of C(successes, k) / C(trials, k). */
export function passHatK(successes: readonly number[], trials: number, k: number): number {
  const mean = successes.reduce((sum, c) => sum + choose(c, k) / choose(trials, k), 0) / successes.length;
  return mean;
}

function choose(n: number, k: number): number {
  if (k > n) return 0;
  let result = 1;
  for (let i = 1; i <= k; i++) result = (result * (n - k + i)) / i;
  return result;
}
