import type { CatalogueTool, DefinitionSnapshot, ToolDefinition } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { at, routeOf, withoutSwitch } from './intake';
import type { CatalogueFacts } from './intake';

/** What may be changed of a definition that a run is begun with. */
export interface DefinitionChanges {
  prompt?: string;
  model_id?: string;
  tools?: string[];
}

/**
 * A recorded definition for a run of today: models and tools that were taken away since are left out, and what is asked for
 * instead must be there.
 */
export function changedDefinition(
  recorded: DefinitionSnapshot,
  { prompt, model_id, tools }: DefinitionChanges,
  catalogue: CatalogueFacts,
  core: readonly ToolDefinition[],
): DefinitionSnapshot {
  const optional = (tools ?? recorded.tools.map(({ name }) => name)).filter(
    (name) => !core.some((tool) => tool.name === name),
  );
  const byId = new Map(catalogue.models.map((model) => [model.modelId, model]));
  const first = model_id === undefined ? undefined : byId.get(model_id);
  if (model_id !== undefined && !first)
    throw new Problem('invalid_request', 'There is no such model on the list', at('/model_id'));
  const ids = first ? [first.modelId, ...first.fallbacks] : recorded.models.map(({ modelId }) => modelId);
  const models = ids.flatMap((id) => byId.get(id) ?? []).map(routeOf);
  if (models.length === 0)
    throw new Problem('agent_without_model', 'None of the models that the run had is allowed any more.', {});
  return {
    ...recorded,
    systemPrompt:
      prompt === undefined
        ? recorded.systemPrompt
        : [catalogue.platformPrompt, prompt].filter((layer) => layer !== '').join('\n\n'),
    models,
    tools: [
      ...core,
      ...(tools
        ? toolsNamed(optional, catalogue)
        : recorded.tools.filter(({ name }) => optional.includes(name) && allowed(name, catalogue))),
    ],
  };
}

const allowed = (name: string, { tools }: CatalogueFacts): CatalogueTool | undefined =>
  tools.find((tool) => tool.name === name && tool.agentsAllowed);

const toolsNamed = (names: readonly string[], catalogue: CatalogueFacts): ToolDefinition[] =>
  names.map((name) => {
    const tool = allowed(name, catalogue);
    if (!tool) throw new Problem('invalid_request', `There is no tool "${name}" for agents`, at('/tools'));
    return withoutSwitch(tool);
  });
