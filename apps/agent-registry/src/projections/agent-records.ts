import type { AgentBehaviour, AgentDetails } from '@runyard/contracts';
import type { Table } from './records';

/** A row of `agents`. */
export interface AgentRecord {
  org_id: string;
  agent_id: string;
  agent_version: number;
  revision: number;
  owner_id: string;
  name: string;
  description: string;
  prompt: string;
  model_id: string | null;
  bounds: Record<string, number>;
  approval_policy: string;
  mode: string;
  concurrency: string;
  overlap: string;
  catch_up: string;
  schedule: unknown;
  meta: unknown;
  enabled: boolean;
  enabled_by: string;
  enabled_reason: string | null;
  admin_paused: boolean;
  admin_paused_by: string | null;
  admin_paused_reason: string | null;
  created_at: string;
  updated_at: string;
  position: string;
}

/** A row of `agent_tools`. */
export interface LinkRecord {
  org_id: string;
  agent_id: string;
  tool: string;
  place: number;
  created_at: string;
}

/** A row of `agent_versions`. */
export interface VersionRecord {
  org_id: string;
  agent_id: string;
  agent_version: number;
  owner_id: string;
  prompt: string;
  model_id: string | null;
  bounds: Record<string, number>;
  approval_policy: string;
  mode: string;
  tools: string[];
  created_at: string;
  created_by: string;
}

export const AGENTS: Table<AgentRecord> = {
  name: 'agents',
  key: ['org_id', 'agent_id'],
  columns: [
    ...([
      'agent_version',
      'revision',
      'owner_id',
      'name',
      'description',
      'prompt',
      'model_id',
      'bounds',
    ] as const),
    ...([
      'approval_policy',
      'mode',
      'concurrency',
      'overlap',
      'schedule',
      'meta',
      'enabled',
      'enabled_by',
    ] as const),
    ...(['enabled_reason', 'admin_paused', 'admin_paused_by', 'admin_paused_reason', 'catch_up'] as const),
    ...(['created_at', 'updated_at', 'position'] as const),
  ],
};
export const LINKS: Table<LinkRecord> = {
  name: 'agent_tools',
  key: ['org_id', 'agent_id', 'tool'],
  columns: ['place', 'created_at'],
};
export const VERSIONS: Table<VersionRecord> = {
  name: 'agent_versions',
  key: ['org_id', 'agent_id', 'agent_version'],
  columns: [
    'owner_id',
    'prompt',
    'model_id',
    'bounds',
    'approval_policy',
    'mode',
    'tools',
    'created_at',
    'created_by',
  ],
};

const BOUND_COLUMNS: Readonly<Record<string, string>> = {
  maxSteps: 'max_steps',
  maxToolCalls: 'max_tool_calls',
  tokenBudget: 'token_budget',
  deadlineSeconds: 'deadline_seconds',
  maxDepth: 'max_depth',
};

/** What an agent and its versions have in common. */
export function behaviourColumns({ prompt, modelId, approvalPolicy, mode, ...rest }: AgentBehaviour) {
  const bounds = Object.fromEntries(
    Object.entries(rest.bounds).map(([name, value]) => [BOUND_COLUMNS[name] ?? name, Number(value)]),
  );
  return { prompt, model_id: modelId, bounds, approval_policy: approvalPolicy, mode };
}

export function detailColumns({ catchUp = 'latest', ...details }: AgentDetails) {
  const { name, description, concurrency, overlap, schedule, meta } = details;
  return { name, description, concurrency, overlap, catch_up: catchUp, schedule, meta };
}
