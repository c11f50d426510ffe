import type { SourceDialog, SourceMessage } from '../tau-bench/source';
import { answerText } from './answer-text';
import { callTool } from './tools';
import type { Library, World } from './world';
import { newWorld } from './world';

/** What a dialog has changed, as text; equal texts are equal worlds. */
export function stateOf(library: Library, world: World): string {
  const changed = (['users', 'reservations'] as const).flatMap((table) =>
    Object.entries(world[table]).filter(([id, record]) => text(record) !== text(library[table][id])),
  );
  return answerText(sorted(Object.fromEntries(changed)));
}

const text = (record: object | undefined): string => JSON.stringify(record) ?? '';

/** Members by name, at every depth: the order in which they came does not count. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]));
}

/**
 * 1 where the world is as it would be after what should have been done, and everything that should have been said was said to the
 * customer, which what stands beside a tool call was not; 0 otherwise. So the source judged its dialogs.
 */
export function rewardOf(
  library: Library,
  { info }: SourceDialog,
  state: string,
  messages: readonly SourceMessage[],
): 0 | 1 {
  const wished = newWorld(library);
  for (const { name, kwargs } of info.task.actions) callTool(wished, name, kwargs);
  const said = messages
    .filter(({ role, tool_calls }) => role === 'assistant' && !tool_calls?.length)
    .map(({ content }) => (content ?? '').replaceAll(',', '').toLowerCase());
  const complete = info.task.outputs.every((output) =>
    said.some((text) => text.includes(output.toLowerCase())),
  );
  return complete && state === stateOf(library, wished) ? 1 : 0;
}
