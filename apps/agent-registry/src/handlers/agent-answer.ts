import { startConditions } from '@runyard/contracts';
import type {
  AgentBehaviour,
  AgentBounds,
  AgentDetails,
  AgentRow,
  BoundsRow,
  CreateAgentInput,
  Json,
  UpdateAgentInput,
} from '@runyard/contracts';
import { etagOf } from '../domain/agent';
import type { ActiveAgent } from '../domain/agent';
import type { CreateAgent } from '../domain/agent-commands';
import { given } from './requests';

/** An agent as it was decided, in the words of `agents.get`. */
export function agentAnswer(
  id: string,
  agent: ActiveAgent,
  ownerActive: boolean,
  position: string,
): AgentRow {
  const { behaviour, enabled, locked } = agent;
  const { catchUp = 'latest', ...details } = agent.details;
  const facts = {
    enabled: enabled.on,
    enabledReason: enabled.reason,
    locked: locked.on,
    lockedReason: locked.reason,
  };
  return {
    agent_id: id,
    agent_version: agent.version,
    owner_id: agent.ownerId,
    prompt: behaviour.prompt,
    model_id: behaviour.modelId,
    tools: behaviour.tools,
    bounds: boundsRow(behaviour.bounds),
    approval_policy: behaviour.approvalPolicy,
    mode: behaviour.mode,
    ...details,
    catch_up: catchUp,
    enabled: enabled.on,
    enabled_by: enabled.by,
    enabled_reason: enabled.reason,
    admin_paused: locked.on,
    admin_paused_by: locked.by,
    admin_paused_reason: locked.reason,
    created_at: new Date(agent.createdAt).toISOString(),
    updated_at: new Date(agent.updatedAt).toISOString(),
    etag: etagOf(agent),
    start_conditions: startConditions({ ...facts, modelId: behaviour.modelId, ownerActive }),
    position,
  };
}

function boundsRow({
  maxSteps,
  maxToolCalls,
  tokenBudget,
  deadlineSeconds,
  maxDepth,
}: AgentBounds): BoundsRow {
  return given({
    max_steps: maxSteps,
    max_tool_calls: maxToolCalls,
    token_budget: tokenBudget,
    deadline_seconds: deadlineSeconds,
    max_depth: maxDepth,
  });
}

export function boundsOf(row: BoundsRow): AgentBounds {
  return given({
    maxSteps: row.max_steps,
    maxToolCalls: row.max_tool_calls,
    tokenBudget: row.token_budget,
    deadlineSeconds: row.deadline_seconds,
    maxDepth: row.max_depth,
  });
}

/** `modelId` undefined: the list's default. */
export function newBehaviour(input: CreateAgentInput): CreateAgent['behaviour'] {
  const { prompt, model_id: modelId, tools, bounds, approval_policy: approvalPolicy, mode } = input;
  return { prompt, modelId, tools, bounds: boundsOf(bounds), approvalPolicy, mode };
}

export function newDetails({
  name,
  description,
  concurrency,
  overlap,
  catch_up: catchUp,
  schedule,
  meta,
}: CreateAgentInput): AgentDetails {
  return {
    name,
    description,
    concurrency,
    overlap,
    catchUp,
    schedule: schedule as Json,
    meta: meta as Record<string, Json>,
  };
}

/** The parts of an edit that make a version; only what was given. */
export function behaviourOf(input: UpdateAgentInput): Partial<AgentBehaviour> {
  return given({
    prompt: input.prompt,
    modelId: input.model_id,
    tools: input.tools,
    bounds: input.bounds && boundsOf(input.bounds),
    approvalPolicy: input.approval_policy,
    mode: input.mode,
  });
}

/** The other parts; only what was given. */
export function detailsOf(input: UpdateAgentInput): Partial<AgentDetails> {
  return given({
    name: input.name,
    description: input.description,
    concurrency: input.concurrency,
    overlap: input.overlap,
    catchUp: input.catch_up,
    schedule: input.schedule as Json | undefined,
    meta: input.meta as Record<string, Json> | undefined,
  });
}
