import {
  KNOWLEDGE_EVENTS,
  PEOPLE_EVENTS,
  documentAggregate,
  groupAggregate,
  subjectOf,
  userAggregate,
} from '@runyard/contracts';
import type { Caller, DocumentEvent, DomainEvent, GroupEvent, PeopleEvent } from '@runyard/contracts';
import { foldCache, handle, load } from '@runyard/event-log';
import type { Aggregate, EventLog, FoldCache, Handled } from '@runyard/event-log';
import { commitMeta } from '@runyard/service';
import { NO_DOCUMENT, decideDocument, evolveDocument } from '../domain/document';
import type { Document, DocumentCommand } from '../domain/document';
import { NO_GROUP, decideGroup, evolveGroup } from '../domain/group';
import type { Group, GroupCommand } from '../domain/group';

const SOURCE = 'knowledge';

const DOCUMENT = { initial: NO_DOCUMENT, evolve: evolveDocument, decide: decideDocument };
const GROUP = { initial: NO_GROUP, evolve: evolveGroup, decide: decideGroup };

/** What is to be known of a person here: whether they are there, and active. */
type Standing = 'unknown' | 'active' | 'inactive';

const PERSON = {
  initial: 'unknown' as Standing,
  evolve(standing: Standing, event: PeopleEvent): Standing {
    if (event.type === 'UserAdded' || event.type === 'UserReactivated') return 'active';
    if (event.type === 'UserDeactivated') return 'inactive';
    return event.type === 'UserDeleted' ? 'unknown' : standing;
  },
  decide: () => [],
};

/** Documents and groups on the log, and the people that they name. */
export class KnowledgeLog {
  private readonly documents: FoldCache<Document> = foldCache();
  private readonly groups: FoldCache<Group> = foldCache();
  private readonly people: FoldCache<Standing> = foldCache();

  constructor(private readonly log: EventLog) {}

  document(org: string, id: string): Aggregate<Document, DocumentCommand, DocumentEvent> {
    const subject = subjectOf('knowledge', org, documentAggregate(id));
    return {
      subject,
      context: 'knowledge',
      decider: DOCUMENT,
      isKnown: KNOWLEDGE_EVENTS,
      cache: this.documents,
    };
  }

  group(org: string, id: string): Aggregate<Group, GroupCommand, GroupEvent> {
    const subject = subjectOf('knowledge', org, groupAggregate(id));
    return { subject, context: 'knowledge', decider: GROUP, isKnown: KNOWLEDGE_EVENTS, cache: this.groups };
  }

  /** From the person's own log, so that a right ends with the event that ends it. */
  async standing(org: string, userId: string): Promise<Standing> {
    const subject = subjectOf('people', org, userAggregate(userId));
    const person = { subject, decider: PERSON, isKnown: PEOPLE_EVENTS, cache: this.people };
    const aggregate: Aggregate<Standing, never, PeopleEvent> = { ...person, context: 'people' };
    return this.read(aggregate);
  }

  async read<S, C, E extends DomainEvent>(aggregate: Aggregate<S, C, E>): Promise<S> {
    return (await load(this.log, aggregate)).state;
  }

  act<S, C, E extends DomainEvent>(
    aggregate: Aggregate<S, C, E>,
    command: C,
    caller: Pick<Caller, 'actor'>,
  ): Promise<Handled<S, E>> {
    return handle(this.log, aggregate, command, commitMeta(caller, SOURCE));
  }

  /** Sequence of the last commit of the stream that documents and groups are in. */
  async end(): Promise<number> {
    return (await this.log.state('AGENTS')).lastSequence;
  }
}
