import type { Context, DomainEvent } from '@runyard/contracts';
import { parseSubject } from '@runyard/contracts';
import type { KnownEvents } from './commit';
import { decodeEvents } from './commit';
import type { Decider } from './decider';
import type { Commit, EventLog } from './types';
import { NOTHING_YET } from './types';

/** An aggregate's state, folded from its log up to `sequence`. */
export interface Folded<State> {
  state: State;
  /** Stream sequence of the last commit, or NOTHING_YET. */
  sequence: number;
  /** Index of the last event in the last commit. */
  index: number;
  /** Epoch ms of the last event; later ones are never earlier (P1.3). */
  time: number;
  /** Name of an event that this code does not know: it must not decide about this aggregate (P8.9). */
  unknown: string | undefined;
}

/** How to fold an aggregate and decide about it. */
export interface Aggregate<State, Command, Event extends DomainEvent> {
  subject: string;
  /** Guards against a decider that is applied to an aggregate of another context. */
  context: Context;
  decider: Decider<State, Command, Event>;
  /** The events that this code knows, e.g. RUN_EVENTS. */
  isKnown: KnownEvents;
  /** Folded states by subject. Holds only what the log said; every decision is still checked by the log. */
  cache?: FoldCache<State>;
}

export interface FoldCache<State> {
  get(subject: string): Folded<State> | undefined;
  set(subject: string, folded: Folded<State>): void;
  delete(subject: string): void;
}

/** A cache for `handle` that keeps the most recently used states. */
export function foldCache<State>(most = 10_000): FoldCache<State> {
  const entries = new Map<string, Folded<State>>();
  return {
    get: (subject) => entries.get(subject),
    delete: (subject) => void entries.delete(subject),
    set(subject, folded) {
      entries.delete(subject);
      entries.set(subject, folded);
      if (entries.size <= most) return;
      for (const oldest of entries.keys()) {
        entries.delete(oldest);
        break;
      }
    },
  };
}

/** The one place where an event of the log gets its type: the table of known events and the upcasters vouch for it. */
export const asEvent = <Event extends DomainEvent>(event: DomainEvent): Event => event as Event;

/** Folds commits on top of a state. */
export function fold<State, Event extends DomainEvent>(
  decider: Pick<Decider<State, never, Event>, 'evolve'>,
  isKnown: KnownEvents,
  from: Folded<State>,
  commits: readonly Commit[],
): Folded<State> {
  const folded = { ...from };
  for (const commit of commits) {
    const { events, unknownType } = decodeEvents(commit, isKnown);
    for (const event of events) {
      folded.state = decider.evolve(folded.state, asEvent<Event>(event));
      folded.time = Math.max(folded.time, event.time);
    }
    folded.unknown ??= unknownType;
    folded.sequence = commit.sequence;
    folded.index = commit.events.length - 1;
  }
  return folded;
}

/** The aggregate's state as the log has it now. */
export async function load<State, Command, Event extends DomainEvent>(
  log: Pick<EventLog, 'read'>,
  aggregate: Aggregate<State, Command, Event>,
): Promise<Folded<State>> {
  if (parseSubject(aggregate.subject)?.context !== aggregate.context)
    throw new TypeError(`"${aggregate.subject}" is not an aggregate of ${aggregate.context}`);
  const known = aggregate.cache?.get(aggregate.subject) ?? nothing(aggregate.decider);
  const folded = fold(
    aggregate.decider,
    aggregate.isKnown,
    known,
    await log.read(aggregate.subject, known.sequence),
  );
  aggregate.cache?.set(aggregate.subject, folded);
  return folded;
}

const nothing = <State>(decider: { initial: State }): Folded<State> => ({
  state: decider.initial,
  sequence: NOTHING_YET,
  index: 0,
  time: 0,
  unknown: undefined,
});
