import type { AgentVersionRow, FieldChange } from '@runyard/contracts';
import { same } from './same';
import { diffLines } from './text-diff';

const FIELDS = ['model_id', 'approval_policy', 'mode'] as const;

/** What differs between two versions, field by field, in the order in which people read an agent. */
export function versionChanges(before: AgentVersionRow, after: AgentVersionRow): FieldChange[] {
  return [
    ...prompt(before, after),
    ...plain(before, after),
    ...tools(before, after),
    ...bounds(before, after),
  ];
}

function prompt({ prompt: before }: AgentVersionRow, { prompt: after }: AgentVersionRow): FieldChange[] {
  return before === after ? [] : [{ field: 'prompt', before, after, lines: diffLines(before, after) }];
}

function plain(before: AgentVersionRow, after: AgentVersionRow): FieldChange[] {
  return FIELDS.filter((field) => before[field] !== after[field]).map((field) => ({
    field,
    before: before[field],
    after: after[field],
  }));
}

/** A list in another order is a change too: models are offered tools in the author's order. */
function tools({ tools: before }: AgentVersionRow, { tools: after }: AgentVersionRow): FieldChange[] {
  if (same(before, after)) return [];
  const added = after.filter((tool) => !before.includes(tool));
  const removed = before.filter((tool) => !after.includes(tool));
  return [{ field: 'tools', before, after, added, removed }];
}

/** Null: unset, so that the platform's default holds. */
function bounds({ bounds: before }: AgentVersionRow, { bounds: after }: AgentVersionRow): FieldChange[] {
  const names = [
    ...new Set([...Object.keys(before), ...Object.keys(after)]),
  ].sort() as (keyof typeof before)[];
  return names
    .filter((name) => before[name] !== after[name])
    .map((name) => ({
      field: `bounds.${name}`,
      before: before[name] ?? null,
      after: after[name] ?? null,
    }));
}
