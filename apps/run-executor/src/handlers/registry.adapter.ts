import type { DomainEvent, Policy } from '@runyard/contracts';
import { MODELS_ID, RULES_ID, subjectOf, TOOLS_ID, userAggregate } from '@runyard/contracts';
import { foldCache, load, JointReads, UnknownEvent } from '@runyard/event-log';
import type { EventLog, FoldCache } from '@runyard/event-log';
import type { AgentFacts, CatalogueFacts } from '../domain/intake';
import { AGENT, MODELS, POLICY, TOOLS, USER } from './registry-folds';
import type { Fold, UserFacts } from './registry-folds';

export type { UserFacts };

/**
 * What the registry says of agents, catalogue and people, and the approvals of rules. Aggregates are folded from their own log, never read
 * from a table that may lag (P2.2): one round trip tells whether the fold at hand is still current, and those who ask at the
 * same time share it.
 */
export class RegistryFacts {
  /** Of this log alone: another one may have another history at the same place. */
  private readonly caches = new Map<object, FoldCache<never>>();
  private readonly reads = new JointReads();

  constructor(private readonly log: EventLog) {}

  async agent(org: string, agentId: string): Promise<AgentFacts | null> {
    const agent = await this.current(AGENT, org, agentId);
    return agent && { ...agent, agentId };
  }

  /** An agent and its owner; where the owner is known from before, both are asked for at once. */
  async agentAndOwner(
    org: string,
    agentId: string,
  ): Promise<{ agent: AgentFacts | null; owner: UserFacts | null }> {
    const before = this.cacheOf(AGENT).get(subjectOf('agents', org, agentId))?.state?.ownerId;
    const [agent, known] = await Promise.all([
      this.agent(org, agentId),
      before === undefined ? null : this.user(org, before),
    ]);
    const owner = agent === null || agent.ownerId === before ? known : await this.user(org, agent.ownerId);
    return { agent, owner };
  }

  async catalogue(org: string): Promise<CatalogueFacts> {
    const [models, tools] = await Promise.all([
      this.current(MODELS, org, MODELS_ID),
      this.current(TOOLS, org, TOOLS_ID),
    ]);
    return { ...models, tools };
  }

  user(org: string, userId: string): Promise<UserFacts | null> {
    return this.current(USER, org, userAggregate(userId));
  }

  /** The org's permission rules as of now. */
  policy(org: string): Promise<Policy> {
    return this.current(POLICY, org, RULES_ID);
  }

  private current<S, E extends DomainEvent>(fold: Fold<S, E>, org: string, id: string): Promise<S> {
    const subject = subjectOf(fold.context, org, id);
    return this.reads.read(subject, () => this.read(fold, subject));
  }

  private async read<S, E extends DomainEvent>(fold: Fold<S, E>, subject: string): Promise<S> {
    const { context, isKnown, initial, evolve } = fold;
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
