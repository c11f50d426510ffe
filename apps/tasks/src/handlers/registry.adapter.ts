import { AGENT_EVENTS, CATALOGUE_EVENTS, MODELS_ID, subjectOf } from '@runyard/contracts';
import type { AgentEvent, CatalogueEvent, DomainEvent } from '@runyard/contracts';
import { UnknownEvent, foldCache, load } from '@runyard/event-log';
import type { Aggregate, EventLog } from '@runyard/event-log';

/** An agent as tasks need to know it; null: there is none, or no more. */
export type AgentFacts = { ownerId: string } | null;
/** Rows of the allowed list by id: what a task shows of its model. */
export type ModelFacts = ReadonlyMap<string, { provider: string; model: string }>;

const AGENTS = foldCache<AgentFacts>;
const MODELS = foldCache<ModelFacts>;

/** What the registry says of agents and models, folded from their own log (P2.2). The only file here that knows its events. */
export class RegistryFacts {
  private readonly agents = AGENTS();
  private readonly models = MODELS(200);

  constructor(private readonly log: EventLog) {}

  agent(org: string, agentId: string): Promise<AgentFacts> {
    return this.current<AgentFacts, AgentEvent>({
      subject: subjectOf('agents', org, agentId),
      context: 'agents',
      isKnown: AGENT_EVENTS,
      cache: this.agents,
      decider: { initial: null, evolve: agentAfter, decide: () => [] },
    });
  }

  allowedModels(org: string): Promise<ModelFacts> {
    return this.current<ModelFacts, CatalogueEvent>({
      subject: subjectOf('catalogue', org, MODELS_ID),
      context: 'catalogue',
      isKnown: CATALOGUE_EVENTS,
      cache: this.models,
      decider: { initial: new Map(), evolve: modelsAfter, decide: () => [] },
    });
  }

  private async current<S, E extends DomainEvent>(aggregate: Aggregate<S, never, E>): Promise<S> {
    const { state, unknown } = await load(this.log, aggregate);
    if (unknown !== undefined) throw new UnknownEvent(aggregate.subject, unknown);
    return state;
  }
}

function agentAfter(agent: AgentFacts, event: AgentEvent): AgentFacts {
  if (event.type === 'AgentCreated') return { ownerId: event.data.ownerId };
  return event.type === 'AgentDeleted' ? null : agent;
}

function modelsAfter(models: ModelFacts, event: CatalogueEvent): ModelFacts {
  const after = new Map(models);
  if (event.type === 'ModelAllowed' || event.type === 'ModelRevised') {
    const { modelId, provider, model } = event.data.model;
    after.set(modelId, { provider: provider.kind, model });
  }
  if (event.type === 'ModelRemoved') after.delete(event.data.modelId);
  return after;
}
