import {
  AGENT_EVENTS,
  CATALOGUE_EVENTS,
  MODELS_ID,
  ORG_ID,
  PEOPLE_EVENTS,
  TOOLS_ID,
  keyAggregate,
  subjectOf,
  userAggregate,
} from '@runyard/contracts';
import type { AgentEvent, Caller, DomainEvent, ModelsEvent, ToolsEvent } from '@runyard/contracts';
import { fold, foldCache, handle, load } from '@runyard/event-log';
import type { Aggregate, CommitMeta, EventLog, FoldCache, Handled } from '@runyard/event-log';
import { commitMeta } from '@runyard/service';
import { NO_AGENT, evolve } from '../domain/agent';
import type { Agent } from '../domain/agent';
import type { AgentCommand, CatalogueView, OwnerView } from '../domain/agent-commands';
import { decide } from '../domain/agent-decisions';
import { NO_KEY, decideKey, evolveKey } from '../domain/api-key';
import type { ApiKey, ApiKeyCommand, ApiKeyEvent } from '../domain/api-key';
import { NO_MODELS, decideModels, evolveModels } from '../domain/models';
import type { Models, ModelsCommand } from '../domain/models';
import { NO_ORGANIZATION, decideOrganization, evolveOrganization } from '../domain/organization';
import type { Organization, OrganizationCommand, OrganizationEvent } from '../domain/organization';
import { NO_TOOLS, decideTools, evolveTools } from '../domain/tools';
import type { Tools, ToolsCommand } from '../domain/tools';
import { NO_USER, decideUser, evolveUser } from '../domain/user';
import type { User, UserCommand, UserEvent } from '../domain/user';

/** Source of every event of this service, and the actor of its reactions. */
export const SOURCE = 'agent-registry';

const AGENT = { initial: NO_AGENT, evolve, decide };
const MODELS = { initial: NO_MODELS, evolve: evolveModels, decide: decideModels };
const TOOLS = { initial: NO_TOOLS, evolve: evolveTools, decide: decideTools };
const ORGANIZATION = { initial: NO_ORGANIZATION, evolve: evolveOrganization, decide: decideOrganization };
const USER = { initial: NO_USER, evolve: evolveUser, decide: decideUser };
const KEY = { initial: NO_KEY, evolve: evolveKey, decide: decideKey };

/** The aggregates of the registry on the log: how each is found, folded and decided about. */
export class RegistryLog {
  private readonly agents: FoldCache<Agent> = foldCache();
  private readonly models: FoldCache<Models> = foldCache();
  private readonly tools: FoldCache<Tools> = foldCache();
  private readonly orgs: FoldCache<Organization> = foldCache();
  private readonly users: FoldCache<User> = foldCache();
  private readonly keys: FoldCache<ApiKey> = foldCache();

  constructor(private readonly log: EventLog) {}

  agent(org: string, id: string): Aggregate<Agent, AgentCommand, AgentEvent> {
    return {
      subject: subjectOf('agents', org, id),
      context: 'agents',
      decider: AGENT,
      isKnown: AGENT_EVENTS,
      cache: this.agents,
    };
  }
  modelsOf(org: string): Aggregate<Models, ModelsCommand, ModelsEvent> {
    return {
      subject: subjectOf('catalogue', org, MODELS_ID),
      context: 'catalogue',
      decider: MODELS,
      isKnown: CATALOGUE_EVENTS,
      cache: this.models,
    };
  }
  toolsOf(org: string): Aggregate<Tools, ToolsCommand, ToolsEvent> {
    return {
      subject: subjectOf('catalogue', org, TOOLS_ID),
      context: 'catalogue',
      decider: TOOLS,
      isKnown: CATALOGUE_EVENTS,
      cache: this.tools,
    };
  }
  organization(org: string): Aggregate<Organization, OrganizationCommand, OrganizationEvent> {
    return {
      subject: subjectOf('people', org, ORG_ID),
      context: 'people',
      decider: ORGANIZATION,
      isKnown: PEOPLE_EVENTS,
      cache: this.orgs,
    };
  }
  user(org: string, id: string): Aggregate<User, UserCommand, UserEvent> {
    return {
      subject: subjectOf('people', org, userAggregate(id)),
      context: 'people',
      decider: USER,
      isKnown: PEOPLE_EVENTS,
      cache: this.users,
    };
  }
  key(org: string, id: string): Aggregate<ApiKey, ApiKeyCommand, ApiKeyEvent> {
    return {
      subject: subjectOf('people', org, keyAggregate(id)),
      context: 'people',
      decider: KEY,
      isKnown: PEOPLE_EVENTS,
      cache: this.keys,
    };
  }

  /** Decides and appends in the caller's name. */
  act<S, C, E extends DomainEvent>(
    aggregate: Aggregate<S, C, E>,
    command: C,
    caller: Pick<Caller, 'actor'>,
  ): Promise<Handled<S, E>> {
    return handle(this.log, aggregate, command, commitMeta(caller, SOURCE));
  }

  /** Decides and appends in the registry's own name; `cause` is the position of the event that it reacts to. */
  react<S, C, E extends DomainEvent>(
    aggregate: Aggregate<S, C, E>,
    command: C,
    cause: string,
  ): Promise<Handled<S, E>> {
    const meta: CommitMeta = { actor: `system:${SOURCE}`, source: SOURCE, causationId: cause };
    return handle(this.log, aggregate, command, meta);
  }

  async read<S, C, E extends DomainEvent>(aggregate: Aggregate<S, C, E>): Promise<S> {
    return (await load(this.log, aggregate)).state;
  }

  /** How a list stood at a position of its stream: what a removal took does not change by what came later. */
  async listAsOf(
    org: string,
    list: 'models' | 'tools',
    sequence: number,
  ): Promise<Pick<Models | Tools, 'incarnations'>> {
    return list === 'models'
      ? this.asOf(this.modelsOf(org), sequence)
      : this.asOf(this.toolsOf(org), sequence);
  }

  /** How often a user had been deactivated at a position of PEOPLE. */
  async deactivationsAsOf(org: string, userId: string, sequence: number): Promise<number> {
    const user = await this.asOf(this.user(org, userId), sequence);
    return 'deactivations' in user ? user.deactivations : 0;
  }

  private async asOf<S, C, E extends DomainEvent>(
    aggregate: Aggregate<S, C, E>,
    sequence: number,
  ): Promise<S> {
    const commits = (await this.log.read(aggregate.subject)).filter((commit) => commit.sequence <= sequence);
    const nothing = { state: aggregate.decider.initial, sequence: 0, index: 0, time: 0, unknown: undefined };
    return fold(aggregate.decider, aggregate.isKnown, nothing, commits).state;
  }

  /** End of the stream of agents and catalogue. */
  async endOfAgents(): Promise<number> {
    return (await this.log.state('AGENTS')).lastSequence;
  }

  /** What agents may refer to now. */
  async catalogue(org: string): Promise<CatalogueView> {
    const [models, tools] = await Promise.all([this.read(this.modelsOf(org)), this.read(this.toolsOf(org))]);
    const rows = (entries: Readonly<Record<string, { row: number }>>) =>
      Object.fromEntries(Object.entries(entries).map(([id, { row }]) => [id, row]));
    return {
      modelRows: rows(models.entries),
      defaultModelId: models.defaultModelId,
      toolRows: rows(tools.entries),
    };
  }

  async owner(org: string, userId: string): Promise<OwnerView> {
    const user = await this.read(this.user(org, userId));
    if (user.situation === 'absent' || user.situation === 'deleted')
      return { standing: 'unknown', deactivations: 0 };
    return { standing: user.situation, deactivations: user.deactivations };
  }
}
