import type {
  AgentEvent,
  CatalogueEvent,
  Context,
  DomainEvent,
  PeopleEvent,
  PermissionEvent,
  Policy,
  Role,
} from '@runyard/contracts';
import {
  AGENT_EVENTS,
  CATALOGUE_EVENTS,
  evolvePolicy,
  NO_POLICY,
  PEOPLE_EVENTS,
  PERMISSION_EVENTS,
} from '@runyard/contracts';
import type { AgentFacts, CatalogueFacts } from '../domain/intake';

/** The registry's events in the executor's words; the only file here that knows them. */

export interface UserFacts {
  active: boolean;
  roles: Role[];
}

export interface Fold<S, E extends DomainEvent> {
  context: Context;
  isKnown: Readonly<Record<string, true>>;
  initial: S;
  evolve: (state: S, event: E) => S;
}

/** An agent's log knows it by its subject alone. */
type AgentLog = Omit<AgentFacts, 'agentId'>;

export const AGENT: Fold<AgentLog | null, AgentEvent> = {
  context: 'agents',
  isKnown: AGENT_EVENTS,
  initial: null,
  evolve: (state, event) => {
    if (event.type === 'AgentCreated') return bornAgent(event.data);
    return state && { ...state, ...changeOf(state, event) };
  },
};

type Created = Extract<AgentEvent, { type: 'AgentCreated' }>['data'];

const bornAgent = ({ ownerId, version, behaviour, details, enabled }: Created): AgentLog => ({
  ownerId,
  version,
  behaviour,
  details,
  modelId: behaviour.modelId,
  tools: behaviour.tools,
  enabled,
  locked: false,
  deleted: false,
});

function changeOf(state: AgentLog, event: AgentEvent): Partial<AgentLog> {
  switch (event.type) {
    case 'AgentRevised':
      return {
        version: event.data.version,
        behaviour: event.data.behaviour,
        modelId: event.data.behaviour.modelId,
        tools: event.data.behaviour.tools,
      };
    case 'AgentEdited':
      return { details: event.data.details };
    case 'AgentEnabled':
      return { enabled: true };
    case 'AgentDisabled':
      return { enabled: false };
    case 'AgentLocked':
      return { locked: true };
    case 'AgentUnlocked':
      return { locked: false };
    case 'AgentModelCleared':
      return state.modelId === event.data.modelId ? { modelId: null } : {};
    case 'AgentToolUnlinked':
      return { tools: state.tools.filter((tool) => tool !== event.data.tool) };
    case 'AgentDeleted':
      return { deleted: true };
    default:
      return {};
  }
}

export const MODELS: Fold<Omit<CatalogueFacts, 'tools'>, CatalogueEvent> = {
  context: 'catalogue',
  isKnown: CATALOGUE_EVENTS,
  initial: { models: [], platformPrompt: '' },
  evolve: (state, event) => {
    switch (event.type) {
      case 'ModelAllowed':
      case 'ModelRevised': {
        const others = state.models.filter((model) => model.modelId !== event.data.model.modelId);
        return { ...state, models: [...others, event.data.model] };
      }
      case 'ModelRemoved': {
        const left = state.models.filter((model) => model.modelId !== event.data.modelId);
        return {
          ...state,
          models: left.map((m) => ({ ...m, fallbacks: m.fallbacks.filter((f) => f !== event.data.modelId) })),
        };
      }
      case 'PlatformPromptSet':
        return { ...state, platformPrompt: event.data.prompt };
      default:
        return state;
    }
  },
};

export const TOOLS: Fold<CatalogueFacts['tools'], CatalogueEvent> = {
  context: 'catalogue',
  isKnown: CATALOGUE_EVENTS,
  initial: [],
  evolve: (tools, event) => {
    if (event.type === 'ToolRemoved') return tools.filter((tool) => tool.name !== event.data.name);
    if (event.type !== 'ToolRegistered' && event.type !== 'ToolRevised') return tools;
    return [...tools.filter((tool) => tool.name !== event.data.tool.name), event.data.tool];
  },
};

/** The org's permission rules. */
export const POLICY: Fold<Policy, PermissionEvent> = {
  context: 'permissions',
  isKnown: PERMISSION_EVENTS,
  initial: NO_POLICY,
  evolve: evolvePolicy,
};

export const USER: Fold<UserFacts | null, PeopleEvent> = {
  context: 'people',
  isKnown: PEOPLE_EVENTS,
  initial: null,
  evolve: (user, event) => {
    switch (event.type) {
      case 'UserAdded':
        return { active: true, roles: event.data.roles };
      case 'UserEdited':
        return user && { ...user, roles: event.data.roles };
      case 'UserDeactivated':
      case 'UserDeleted':
        return user && { ...user, active: false };
      case 'UserReactivated':
        return user && { ...user, active: true };
      default:
        return user;
    }
  },
};
