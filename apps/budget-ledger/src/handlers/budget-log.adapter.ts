import {
  BUDGET_EVENTS,
  CAPS_ID,
  ORG_ID,
  PEOPLE_EVENTS,
  ownerWeeksId,
  subjectOf,
  weekId,
} from '@runyard/contracts';
import type {
  CapsEvent,
  DomainEvent,
  OwnerWeeksBegun,
  PeopleEvent,
  WeekEvent,
  WeekPlace,
} from '@runyard/contracts';
import { JointReads, UnknownEvent, foldCache, load } from '@runyard/event-log';
import type { Aggregate, CommitMeta, EventLog } from '@runyard/event-log';
import { NO_CAPS, decideCaps, evolveCaps } from '../domain/caps';
import type { Caps, CapsCommand } from '../domain/caps';
import { NO_WEEK, evolveWeek } from '../domain/week';
import type { WeekState } from '../domain/week';
import { decideWeek } from '../domain/week-decisions';
import type { WeekCommand } from '../domain/week-decisions';

/** Source of every event of this service, and the actor of what it does by itself. */
export const SOURCE = 'budget-ledger';
export const BY_LEDGER: CommitMeta = { actor: `system:${SOURCE}`, source: SOURCE };

export type WeekAggregate = Aggregate<WeekState, WeekCommand, WeekEvent>;
export type BegunAggregate = Aggregate<WeekPlace | null, WeekPlace, OwnerWeeksBegun>;
export type CapsAggregate = Aggregate<Caps, CapsCommand, CapsEvent>;

const WEEK = { initial: NO_WEEK, evolve: evolveWeek, decide: decideWeek };
const CAPS = { initial: NO_CAPS, evolve: evolveCaps, decide: decideCaps };
const BEGUN: BegunAggregate['decider'] = {
  initial: null,
  evolve: (place, event) => place ?? event.data,
  decide: (place, command) => (place === null ? [{ type: 'OwnerWeeksBegun', data: command }] : []),
};
const ZONE: Aggregate<string | null, never, PeopleEvent>['decider'] = {
  initial: null,
  evolve: (zone, event) =>
    event.type === 'OrganizationCreated' || event.type === 'OrganizationEdited' ? event.data.timeZone : zone,
  decide: () => [],
};

/** Weeks kept folded; an owner's running week is asked for at every start of a run. */
const KEPT_WEEKS = 5_000;

/** The aggregates that the ledger decides about, and what it reads of others, always from their logs (P2.2). */
export class BudgetLog {
  private readonly weeks = foldCache<WeekState>(KEPT_WEEKS);
  private readonly capLists = foldCache<Caps>();
  private readonly zones = foldCache<string | null>();
  private readonly reads = new JointReads();

  constructor(readonly log: EventLog) {}

  week(org: string, ownerId: string, week: string): WeekAggregate {
    const subject = subjectOf('budgets', org, weekId(ownerId, week));
    return { subject, context: 'budgets', decider: WEEK, isKnown: BUDGET_EVENTS, cache: this.weeks };
  }

  begun(org: string, ownerId: string): BegunAggregate {
    const subject = subjectOf('budgets', org, ownerWeeksId(ownerId));
    return { subject, context: 'budgets', decider: BEGUN, isKnown: BUDGET_EVENTS };
  }

  capsOf(org: string): CapsAggregate {
    const subject = subjectOf('budgets', org, CAPS_ID);
    return { subject, context: 'budgets', decider: CAPS, isKnown: BUDGET_EVENTS, cache: this.capLists };
  }

  /** The caps as they are now; those who ask at the same time share one look. */
  caps(org: string): Promise<Caps> {
    return this.read(this.capsOf(org));
  }

  /** The org's zone; an org that nobody has created yet has UTC. */
  async zone(org: string): Promise<string> {
    const subject = subjectOf('people', org, ORG_ID);
    const organization = {
      subject,
      context: 'people',
      decider: ZONE,
      isKnown: PEOPLE_EVENTS,
      cache: this.zones,
    } as const;
    return (await this.read(organization)) ?? 'UTC';
  }

  read<S, C, E extends DomainEvent>(aggregate: Aggregate<S, C, E>): Promise<S> {
    return this.reads.read(aggregate.subject, async () => {
      const { state, unknown } = await load(this.log, aggregate);
      if (unknown !== undefined) throw new UnknownEvent(aggregate.subject, unknown);
      return state;
    });
  }
}
