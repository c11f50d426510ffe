import type { ToolDefinition } from '@runyard/contracts';

/** Names that every endpoint takes (OpenAI: 64 characters). */
const TAKEN = /^[A-Za-z0-9_-]{1,64}$/;
const LONGEST = 64;

/** Tool names as they go over the wire and back. */
export interface ToolNames {
  /** Also for names that a model made up, which stand in the dialog and would make every later request fail. */
  toWire(name: string): string;
  fromWire(name: string): string;
}

const known = new WeakMap<readonly ToolDefinition[], ToolNames>();

/** Names of an offered set of tools: those that endpoints refuse (`files.read`) get another one, unique in the set. */
export function toolNames(tools: readonly ToolDefinition[]): ToolNames {
  const names = known.get(tools) ?? mapNames(tools);
  known.set(tools, names);
  return names;
}

function mapNames(tools: readonly ToolDefinition[]): ToolNames {
  const wire = new Map<string, string>();
  const back = new Map<string, string>();
  const inOrder = [...tools].sort((a, b) => Number(TAKEN.test(b.name)) - Number(TAKEN.test(a.name)));
  for (const { name } of inOrder) {
    let candidate = cleaned(name);
    for (let n = 2; back.has(candidate); n++) candidate = `${cleaned(name).slice(0, LONGEST - 4)}_${n}`;
    wire.set(name, candidate);
    back.set(candidate, name);
  }
  return { toWire: (name) => wire.get(name) ?? cleaned(name), fromWire: (name) => back.get(name) ?? name };
}

function cleaned(name: string): string {
  const clean = TAKEN.test(name) ? name : name.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST) || 'unknown';
  // Provider packages look names up in plain objects, where these find a method instead of nothing.
  return clean in Object.prototype ? `${clean}_` : clean;
}
