import type { DomainEvent } from '../envelope';
import type { Json } from '../json';
import type { Mode } from '../runs/run.states';
import type { CatchUp } from '../schedules/schedule.events';

/** Bounds as an author sets them; an unset one takes the platform's default at the run's start. */
export interface AgentBounds {
  maxSteps?: number;
  maxToolCalls?: number;
  tokenBudget?: number;
  deadlineSeconds?: number;
  maxDepth?: number;
}

/** What makes an agent behave as it does: every change of it is a new version. */
export interface AgentBehaviour {
  prompt: string;
  /** A row of the org's allowed models, or null: the agent is stopped. */
  modelId: string | null;
  /** Optional tools by name. */
  tools: string[];
  bounds: AgentBounds;
  approvalPolicy: 'park' | 'end';
  mode: Mode;
}

/** What people see and when it runs; changes make no version. */
export interface AgentDetails {
  name: string;
  description: string;
  concurrency: 'agent' | 'conversation' | 'unlimited';
  overlap: 'skip' | 'queue' | 'replace';
  /** What becomes of slots that were missed while nothing ran; an event without it means `latest`. */
  catchUp?: CatchUp;
  /** Null: manual only. Its shape is the scheduler's. */
  schedule: Json;
  meta: Record<string, Json>;
}

/**
 * Which incarnation of a catalogue row was meant: the n-th time that the model or tool of that name was put on the list.
 * A removal takes the reference from agents that meant an incarnation up to its own, however late it is applied.
 */
export interface CatalogueRows {
  modelRow?: number | null;
  toolRows?: Record<string, number>;
}

/** How often the owner had been deactivated when the switch was set; a later deactivation switches off, an earlier one does not. */
export interface OwnerStanding {
  ownerDeactivations?: number;
}

/** There is an agent: its first version, its details, its owner. */
export type AgentCreated = DomainEvent<
  'AgentCreated',
  {
    ownerId: string;
    version: number;
    behaviour: AgentBehaviour;
    details: AgentDetails;
    enabled: boolean;
  } & CatalogueRows &
    OwnerStanding
>;
/** Its behaviour has changed: a new version. */
export type AgentRevised = DomainEvent<
  'AgentRevised',
  { version: number; behaviour: AgentBehaviour } & CatalogueRows
>;
/** Its name, timetable or other details have changed; the version stays. */
export type AgentEdited = DomainEvent<'AgentEdited', { details: AgentDetails }>;
/** Its owner has switched it on. */
export type AgentEnabled = DomainEvent<'AgentEnabled', { reason: string | null } & OwnerStanding>;
/** Its owner has switched it off, or the owner was deactivated. */
export type AgentDisabled = DomainEvent<'AgentDisabled', { reason: string | null }>;
/** An admin has locked it; its owner cannot release that. */
export type AgentLocked = DomainEvent<'AgentLocked', { reason: string | null }>;
/** An admin has released the lock. */
export type AgentUnlocked = DomainEvent<'AgentUnlocked', { reason: string | null }>;
/** The model was removed from the allowed list; the version keeps what its author chose. */
export type AgentModelCleared = DomainEvent<'AgentModelCleared', { modelId: string }>;
/** The tool was deleted from the catalogue; the version keeps what its author chose. */
export type AgentToolUnlinked = DomainEvent<'AgentToolUnlinked', { tool: string }>;
/** It is gone; `history` says whether its runs go as well. */
export type AgentDeleted = DomainEvent<'AgentDeleted', { history: 'keep' | 'purge' }>;

export type AgentEvent =
  | AgentCreated
  | AgentRevised
  | AgentEdited
  | AgentEnabled
  | AgentDisabled
  | AgentLocked
  | AgentUnlocked
  | AgentModelCleared
  | AgentToolUnlinked
  | AgentDeleted;

export const AGENT_EVENTS: Readonly<Record<AgentEvent['type'], true>> = {
  AgentCreated: true,
  AgentRevised: true,
  AgentEdited: true,
  AgentEnabled: true,
  AgentDisabled: true,
  AgentLocked: true,
  AgentUnlocked: true,
  AgentModelCleared: true,
  AgentToolUnlinked: true,
  AgentDeleted: true,
};
