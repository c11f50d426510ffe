import { Problem, isCoreTool } from '@runyard/contracts';
import type { AgentBehaviour, FieldError } from '@runyard/contracts';
import type { ActiveAgent } from './agent';
import type { CatalogueView } from './agent-commands';

/** Each tool once, in the author's order; bounds without unset ones. */
export function cleaned(behaviour: AgentBehaviour): AgentBehaviour {
  const bounds = Object.fromEntries(
    Object.entries(behaviour.bounds).filter(([, value]) => value !== undefined),
  );
  return { ...behaviour, tools: [...new Set(behaviour.tools)], bounds };
}

/** Incarnations of the rows that a behaviour names. What the agent had already keeps the row that was meant then. */
export function rowsFor(
  behaviour: AgentBehaviour,
  catalogue: CatalogueView,
  before?: ActiveAgent,
): { modelRow: number | null; toolRows: Record<string, number> } {
  const errors: FieldError[] = [];
  const { modelId, tools } = behaviour;
  const kept = before?.behaviour.modelId === modelId ? before.modelRow : undefined;
  const modelRow = modelId === null ? null : (kept ?? catalogue.modelRows[modelId]);
  if (modelRow === undefined)
    errors.push({ pointer: '/model_id', detail: 'is not a model of the allowed list' });
  const toolRows: Record<string, number> = {};
  for (const [index, tool] of tools.entries()) {
    const row = before?.toolRows[tool] ?? catalogue.toolRows[tool];
    if (row === undefined) errors.push({ pointer: `/tools/${index}`, detail: absence(tool) });
    else toolRows[tool] = row;
  }
  if (errors.length)
    throw new Problem(
      'invalid_request',
      `The agent is not valid: ${errors[0]?.pointer} ${errors[0]?.detail}`,
      { errors },
    );
  return { modelRow: modelRow ?? null, toolRows };
}

const absence = (tool: string): string =>
  isCoreTool(tool)
    ? `"${tool}" is a core tool: every agent has it, so leave it out`
    : `"${tool}" is not a tool of the catalogue`;
