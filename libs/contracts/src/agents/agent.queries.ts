import type { BoundsInput } from '../runs/run.requests';
import type { Mode } from '../runs/run.states';
import type { StartCondition } from './agent.requests';

/** Bounds as they stand in JSON outside; an unset one takes the platform's default at the run's start. */
export type BoundsRow = BoundsInput;

/** An agent as `agents.get` and `agents.list` answer it. Times are RFC 3339. */
export interface AgentRow {
  agent_id: string;
  agent_version: number;
  owner_id: string;
  name: string;
  description: string;
  prompt: string;
  model_id: string | null;
  tools: string[];
  bounds: BoundsRow;
  approval_policy: 'park' | 'end';
  mode: Mode;
  concurrency: 'agent' | 'conversation' | 'unlimited';
  overlap: 'skip' | 'queue' | 'replace';
  catch_up: 'latest' | 'none';
  schedule: unknown;
  meta: Record<string, unknown>;
  /** The owner's switch, who set it last and why. */
  enabled: boolean;
  enabled_by: string | null;
  enabled_reason: string | null;
  /** The admin's lock, who set it last and why. */
  admin_paused: boolean;
  admin_paused_by: string | null;
  admin_paused_reason: string | null;
  created_at: string;
  updated_at: string;
  etag: string;
  /** The closed conditions; empty when the agent can start. */
  start_conditions: { code: StartCondition; reason: string }[];
  /** Position in the log that the row reflects. */
  position: string;
}

/** A version as `agents.version` answers it: what its author chose, whatever an admin removed since. */
export interface AgentVersionRow {
  agent_id: string;
  agent_version: number;
  prompt: string;
  model_id: string | null;
  tools: string[];
  bounds: BoundsRow;
  approval_policy: 'park' | 'end';
  mode: Mode;
  created_at: string;
  created_by: string;
}

/** A part of a text diff: lines that both have, or that one of them has. */
export interface DiffPart {
  kind: 'same' | 'removed' | 'added';
  lines: string[];
}
/** One field that differs between two versions. `lines`: for texts; `added`, `removed`: for lists. */
export interface FieldChange {
  /** As the API names it; a bound as `bounds.max_steps`. */
  field: string;
  before: unknown;
  after: unknown;
  lines?: DiffPart[];
  added?: string[];
  removed?: string[];
}
/** What `agents.diff` answers. */
export interface VersionDiff {
  agent_id: string;
  from: number;
  to: number;
  changes: FieldChange[];
}
