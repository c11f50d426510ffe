import { BOUND_CEILINGS, DEFAULT_BOUNDS, Problem } from '@runyard/contracts';
import type {
  AgentBehaviour,
  AgentDetails,
  AllowedModel,
  Bounds,
  BoundsInput,
  CatalogueTool,
  DefinitionSnapshot,
  ModelRoute,
  RunRequest,
  RunSettings,
  ToolDefinition,
} from '@runyard/contracts';

/** An agent as its own log tells it: what its author chose, and what has become of it since. */
export interface AgentFacts {
  agentId: string;
  ownerId: string;
  version: number;
  behaviour: AgentBehaviour;
  details: AgentDetails;
  /** The current model reference and tool links; removals clear them without a new version. */
  modelId: string | null;
  tools: string[];
  enabled: boolean;
  locked: boolean;
  deleted: boolean;
}

export interface CatalogueFacts {
  models: AllowedModel[];
  platformPrompt: string;
  tools: CatalogueTool[];
}

/** Refuses a start whose static conditions do not all hold, with the reason; no run comes of it (domain, section 2). */
export function requireStartable(agent: AgentFacts | null, ownerActive: boolean): AgentFacts {
  if (!agent || agent.deleted)
    throw new Problem('not_found', 'There is no agent of that id.', at('/agent_id'));
  if (!agent.enabled)
    throw new Problem('agent_disabled', 'The agent is switched off; its owner can switch it on.', {
      agent_id: agent.agentId,
    });
  if (agent.locked)
    throw new Problem('agent_locked', 'The agent is locked; an admin can release it.', {
      agent_id: agent.agentId,
    });
  if (agent.modelId === null)
    throw new Problem('agent_without_model', 'The agent has no model; its owner has to choose one.', {
      agent_id: agent.agentId,
    });
  if (!ownerActive)
    throw new Problem('owner_inactive', "The agent's owner is not active.", { agent_id: agent.agentId });
  return agent;
}

export const at = (pointer: string) => ({ errors: [{ pointer, detail: 'does not exist' }] });

/**
 * Bounds that hold for a run: the agent's, an unset one the platform's default, none above the ceiling; the request may
 * tighten them and never loosens them.
 */
export function effectiveBounds(agent: AgentBehaviour['bounds'], request: BoundsInput = {}): Bounds {
  const own: Bounds = { ...DEFAULT_BOUNDS, ...defined(agent) };
  const wished: Partial<Bounds> = {
    maxSteps: request.max_steps,
    maxToolCalls: request.max_tool_calls,
    tokenBudget: request.token_budget,
    deadlineSeconds: request.deadline_seconds,
    maxDepth: request.max_depth,
  };
  const least = (key: keyof Bounds): number =>
    Math.min(own[key], BOUND_CEILINGS[key], wished[key] ?? Infinity);
  return {
    maxSteps: least('maxSteps'),
    maxToolCalls: least('maxToolCalls'),
    tokenBudget: least('tokenBudget'),
    deadlineSeconds: least('deadlineSeconds'),
    maxDepth: least('maxDepth'),
  };
}

const defined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, v]) => v !== undefined)) as T;

export const settingsFor = (agent: AgentFacts, request: RunRequest): RunSettings => ({
  bounds: effectiveBounds(agent.behaviour.bounds, request.bounds),
  mode: request.mode ?? agent.behaviour.mode,
  approvalPolicy: agent.behaviour.approvalPolicy,
});

/**
 * Combines what the agent's version says with the current catalogue; fixed for the run. `core`: tools that every agent of
 * this deployment has, ahead of its own and locked: a row of the same name is left out. `modelId`: in place of the agent's.
 */
export function definitionFor(
  agent: AgentFacts,
  catalogue: CatalogueFacts,
  core: readonly ToolDefinition[],
  modelId?: string,
): DefinitionSnapshot {
  const first = catalogue.models.find((model) => model.modelId === (modelId ?? agent.modelId));
  if (!first && modelId !== undefined)
    throw new Problem('invalid_request', `The model ${modelId} is not on the allowed list.`, at('/model_id'));
  if (!first)
    throw new Problem(
      'agent_without_model',
      "The agent's model is no longer allowed; its owner has to choose another.",
      {
        agent_id: agent.agentId,
      },
    );
  const byId = new Map(catalogue.models.map((model) => [model.modelId, model]));
  const fallbacks = first.fallbacks.flatMap((id) => byId.get(id) ?? []);
  const linked = new Set(agent.tools.filter((name) => !core.some((tool) => tool.name === name)));
  const optional = catalogue.tools.filter((tool) => linked.has(tool.name) && tool.agentsAllowed);
  return {
    agentId: agent.agentId,
    agentVersion: agent.version,
    ownerId: agent.ownerId,
    name: agent.details.name,
    systemPrompt: [catalogue.platformPrompt, agent.behaviour.prompt]
      .filter((layer) => layer !== '')
      .join('\n\n'),
    models: [first, ...fallbacks].map(routeOf),
    tools: [...core, ...optional.map(withoutSwitch)],
    meta: agent.details.meta,
  };
}

/** An allowed model as a run carries it. */
export const routeOf = ({
  modelId,
  label,
  tier,
  provider,
  model,
  contextWindow,
  maxOutputTokens,
}: AllowedModel): ModelRoute => ({
  modelId,
  label,
  tier,
  provider,
  model,
  contextWindow,
  maxOutputTokens,
});

/** A catalogue row as a run carries it. */
export function withoutSwitch(tool: CatalogueTool): ToolDefinition {
  const { name, description, inputSchema, effect, idempotent, source, timeoutMs, endsRun } = tool;
  return { name, description, inputSchema, effect, idempotent, source, timeoutMs, endsRun };
}

/** Keys of what only one unfinished run may hold (P2.3); null where runs of the agent do not compete. */
export function slotsFor(
  org: string,
  agent: AgentFacts,
  request: RunRequest,
): { agent: string | null; conversation: string | null } {
  const competes = request.trigger !== 'delegated' && request.trigger !== 'eval';
  return {
    agent: competes && agent.details.concurrency === 'agent' ? `agent:${org}:${agent.agentId}` : null,
    conversation: request.conversation_id ? conversationSlot(org, request.conversation_id) : null,
  };
}

/** The slot that names the last turn of a conversation (docs/adr/0011). */
export const conversationSlot = (org: string, conversationId: string): string =>
  `conversation:${org}:${conversationId}`;
