import { AGENT_EVENTS, CATALOGUE_EVENTS, TOOLS_ID, subjectOf } from '@runyard/contracts';
import type { AgentEvent, CatalogueEvent, CatalogueTool, Mode } from '@runyard/contracts';
import { foldCache, load } from '@runyard/event-log';
import type { EventLog, FoldCache } from '@runyard/event-log';

/** What rules need to know of an agent. */
export interface AgentFacts {
  ownerId: string;
  mode: Mode;
  deleted: boolean;
}

/** The registry's events in this service's words; the only file here that knows them. */
export class RegistryFacts {
  private readonly agents: FoldCache<AgentFacts | null> = foldCache();
  private readonly catalogues: FoldCache<readonly CatalogueTool[]> = foldCache();

  constructor(private readonly log: Pick<EventLog, 'read'>) {}

  /** Null: there never was such an agent, or it was deleted. */
  async agent(org: string, agentId: string): Promise<AgentFacts | null> {
    const { state } = await load(this.log, {
      subject: subjectOf('agents', org, agentId),
      context: 'agents',
      decider: { initial: null, evolve: evolveAgent, decide: () => [] },
      isKnown: AGENT_EVENTS,
      cache: this.agents,
    });
    return state?.deleted ? null : state;
  }

  /** The org's tool catalogue. */
  async tools(org: string): Promise<readonly CatalogueTool[]> {
    const { state } = await load(this.log, {
      subject: subjectOf('catalogue', org, TOOLS_ID),
      context: 'catalogue',
      decider: { initial: [], evolve: evolveTools, decide: () => [] },
      isKnown: CATALOGUE_EVENTS,
      cache: this.catalogues,
    });
    return state;
  }
}

function evolveAgent(agent: AgentFacts | null, event: AgentEvent): AgentFacts | null {
  switch (event.type) {
    case 'AgentCreated':
      return { ownerId: event.data.ownerId, mode: event.data.behaviour.mode, deleted: false };
    case 'AgentRevised':
      return agent && { ...agent, mode: event.data.behaviour.mode };
    case 'AgentDeleted':
      return agent && { ...agent, deleted: true };
    default:
      return agent;
  }
}

function evolveTools(tools: readonly CatalogueTool[], event: CatalogueEvent): readonly CatalogueTool[] {
  if (event.type === 'ToolRemoved') return tools.filter(({ name }) => name !== event.data.name);
  if (event.type !== 'ToolRegistered' && event.type !== 'ToolRevised') return tools;
  return [...tools.filter(({ name }) => name !== event.data.tool.name), event.data.tool];
}
