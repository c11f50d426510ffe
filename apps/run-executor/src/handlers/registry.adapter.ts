import type {
  AgentEvent,
  CatalogueEvent,
  Context,
  DomainEvent,
  PeopleEvent,
  Role,
} from '@runyard/contracts';
import {
  AGENT_EVENTS,
  CATALOGUE_EVENTS,
  MODELS_ID,
  PEOPLE_EVENTS,
  subjectOf,
  TOOLS_ID,
  userAggregate,
} from '@runyard/contracts';
import { foldCache, load, UnknownEvent } from '@runyard/event-log';
import type { EventLog, FoldCache } from '@runyard/event-log';
import type { AgentFacts, CatalogueFacts } from '../domain/intake';

export interface UserFacts {
  active: boolean;
  roles: Role[];
}

interface Fold<S, E extends DomainEvent> {
  context: Context;
  isKnown: Readonly<Record<string, true>>;
  initial: S;
  evolve: (state: S, event: E) => S;
}

/**
 * The registry's events in the executor's words; the only file here that knows them. Aggregates are folded from their own
 * log, never read from a table that may lag (P2.2): one round trip tells whether the fold at hand is still current.
 */
export class RegistryFacts {
  /** Of this log alone: another one may have another history at the same place. */
  private readonly caches = new Map<object, FoldCache<never>>();

  constructor(private readonly log: EventLog) {}

  async agent(org: string, agentId: string): Promise<AgentFacts | null> {
    const agent = await this.current(AGENT, org, agentId);
    return agent && { ...agent, agentId };
  }

  async catalogue(org: string): Promise<CatalogueFacts> {
    const [models, tools] = await Promise.all([this.current(MODELS, org, MODELS_ID), this.current(TOOLS, org, TOOLS_ID)]);
    return { ...models, tools };
  }

  user(org: string, userId: string): Promise<UserFacts | null> {
    return this.current(USER, org, userAggregate(userId));
  }

  private async current<S, E extends DomainEvent>(fold: Fold<S, E>, org: string, id: string): Promise<S> {
    const { context, isKnown, initial, evolve } = fold;
    const subject = subjectOf(context, org, id);
    const cache = this.cacheOf(fold);
    const decider = { initial, evolve, decide: () => [] };
    const { state, unknown } = await load(this.log, { subject, context, isKnown, cache, decider });
    if (unknown !== undefined) throw new UnknownEvent(subject, unknown);
    return state;
  }

  private cacheOf<S, E extends DomainEvent>(fold: Fold<S, E>): FoldCache<S> {
    const cache = this.caches.get(fold) ?? foldCache<never>();
    this.caches.set(fold, cache);
    return cache as FoldCache<S>;
  }
}

/** An agent's log knows it by its subject alone. */
type AgentLog = Omit<AgentFacts, 'agentId'>;

const AGENT: Fold<AgentLog | null, AgentEvent> = {
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

const MODELS: Fold<Omit<CatalogueFacts, 'tools'>, CatalogueEvent> = {
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
        return { ...state, models: left.map((m) => ({ ...m, fallbacks: m.fallbacks.filter((f) => f !== event.data.modelId) })) };
      }
      case 'PlatformPromptSet':
        return { ...state, platformPrompt: event.data.prompt };
      default:
        return state;
    }
  },
};

const TOOLS: Fold<CatalogueFacts['tools'], CatalogueEvent> = {
  context: 'catalogue',
  isKnown: CATALOGUE_EVENTS,
  initial: [],
  evolve: (tools, event) => {
    if (event.type === 'ToolRemoved') return tools.filter((tool) => tool.name !== event.data.name);
    if (event.type !== 'ToolRegistered' && event.type !== 'ToolRevised') return tools;
    return [...tools.filter((tool) => tool.name !== event.data.tool.name), event.data.tool];
  },
};

const USER: Fold<UserFacts | null, PeopleEvent> = {
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
