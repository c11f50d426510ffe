import type { AgentBehaviour, AgentDetails } from '@runyard/contracts';
import type { Asker } from './rights';

/** The catalogue as the handler read it: incarnation of each row by id or name, and the default to preselect. */
export interface CatalogueView {
  modelRows: Readonly<Record<string, number>>;
  defaultModelId: string | null;
  toolRows: Readonly<Record<string, number>>;
}

/** The owner as the handler read them from their own log. */
export interface OwnerView {
  standing: 'active' | 'inactive' | 'unknown';
  deactivations: number;
}

export interface CreateAgent {
  type: 'CreateAgent';
  asker: Asker;
  ownerId: string;
  owner: OwnerView;
  catalogue: CatalogueView;
  /** `modelId` undefined: take the list's default. */
  behaviour: Omit<AgentBehaviour, 'modelId'> & { modelId: string | null | undefined };
  details: AgentDetails;
  enabled: boolean;
}

export interface UpdateAgent {
  type: 'UpdateAgent';
  asker: Asker;
  ifMatch?: string;
  catalogue: CatalogueView;
  /** Only what changes. */
  behaviour: Partial<AgentBehaviour>;
  details: Partial<AgentDetails>;
}

interface Switch<T extends string> {
  type: T;
  asker: Asker;
  reason: string | null;
  ifMatch?: string;
}

export type EnableAgent = Switch<'EnableAgent'> & { owner: OwnerView };
export type DisableAgent = Switch<'DisableAgent'>;
export type LockAgent = Switch<'LockAgent'>;
export type UnlockAgent = Switch<'UnlockAgent'>;

export interface DeleteAgent {
  type: 'DeleteAgent';
  asker: Asker;
  history: 'keep' | 'purge';
  ifMatch?: string;
}

/** Reaction: the incarnation `row` of the model's row has left the list. */
export interface ClearModel {
  type: 'ClearModel';
  modelId: string;
  row: number;
}
/** Reaction: the incarnation `row` of the tool's row has left the catalogue. */
export interface UnlinkTool {
  type: 'UnlinkTool';
  tool: string;
  row: number;
}
/** Reaction: the owner was deactivated for the `deactivation`-th time. */
export interface DisableForOwner {
  type: 'DisableForOwner';
  ownerId: string;
  deactivation: number;
}
/** Reaction: the owner was deleted. */
export interface DeleteForOwner {
  type: 'DeleteForOwner';
  ownerId: string;
}

export type AgentReaction = ClearModel | UnlinkTool | DisableForOwner | DeleteForOwner;
export type AgentCommand =
  | CreateAgent
  | UpdateAgent
  | EnableAgent
  | DisableAgent
  | LockAgent
  | UnlockAgent
  | DeleteAgent
  | AgentReaction;
