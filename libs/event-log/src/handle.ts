import type { Context, DomainEvent, NewEvent } from '@runyard/contracts';
import { Problem, parseSubject } from '@runyard/contracts';
import type { KnownEvents } from './commit';
import { decodeEvents } from './commit';
import type { Decider } from './decider';
import { formatPosition } from './position';
import { pauseMs } from './stream-api';
import type { Commit, CommitMeta, EventLog } from './types';
import { NOTHING_YET, VersionConflict } from './types';

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
}

export interface Handled<State, Event> {
  state: State;
  /** What was decided; empty where the command's wish was already true. */
  events: Event[];
  /** Position of the aggregate's last event, `0.0` where it has none. */
  position: string;
}

/** The aggregate holds an event that this version does not know; a newer one must decide about it. */
export class UnknownEvent extends Problem {
  constructor(subject: string, type: string) {
    super('unavailable', `${subject} holds "${type}", which this version does not know; ask a newer one`, { subject, type });
  }
}

/** A cache for `handle` that keeps the most recently used states. */
export function foldCache<State>(most = 10_000): FoldCache<State> {
  const entries = new Map<string, Folded<State>>();
  return {
    get: (subject) => entries.get(subject),
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
const asEvent = <Event extends DomainEvent>(event: DomainEvent): Event => event as Event;

/** Folds commits on top of a state. */
export function fold<State, Event extends DomainEvent>(
  decider: Pick<Decider<State, never, Event>, 'evolve'>,
  isKnown: KnownEvents,
  from: Folded<State>,
  commits: readonly Commit[],
): Folded<State> {
  const folded = { ...from };
  for (const commit of commits) {
    const { events, unknown } = decodeEvents(commit, isKnown);
    for (const event of events) {
      folded.state = decider.evolve(folded.state, asEvent<Event>(event));
      folded.time = Math.max(folded.time, event.time);
    }
    if (unknown) folded.unknown ??= commit.events.find((event) => decodeEvents({ ...commit, events: [event] }, isKnown).unknown)?.type;
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
  const folded = fold(aggregate.decider, aggregate.isKnown, known, await log.read(aggregate.subject, known.sequence));
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

/** Attempts to decide before a busy aggregate's conflict is passed on to the caller. */
const MOST_CONFLICTS = 20;

/**
 * Read, fold, decide, append; again on a version conflict only. With a cache the first decision is made on the cached
 * state: the append itself proves that it was current, and a decision that appends nothing (or refuses) is checked
 * against the log before it is believed. Throws what `decide` throws, UnknownEvent, VersionConflict, LogUnavailable.
 */
export async function handle<State, Command, Event extends DomainEvent>(
  log: Pick<EventLog, 'read' | 'append'>,
  aggregate: Aggregate<State, Command, Event>,
  command: Command,
  meta: CommitMeta,
): Promise<Handled<State, Event>> {
  return handleTogether(log, aggregate, meta, (state) => aggregate.decider.decide(state, command));
}

/** A decided event, and who asked for it where that is not the one of the commit. */
export type DecidedBy = NewEvent & { meta?: Partial<CommitMeta> };

/** As `handle`, for a decision that needs more than one command (see Mailbox). `decide` may be called again. */
export async function handleTogether<State, Command, Event extends DomainEvent>(
  log: Pick<EventLog, 'read' | 'append'>,
  aggregate: Aggregate<State, Command, Event>,
  meta: CommitMeta,
  decide: (state: State) => readonly DecidedBy[],
): Promise<Handled<State, Event>> {
  let current = aggregate.cache?.get(aggregate.subject);
  const optimistic = current ? attempt(() => decide((current as Folded<State>).state)) : undefined;
  let events = optimistic?.value;
  for (let conflicts = 0; ; conflicts++) {
    if (!current || current.unknown !== undefined || !events?.length) {
      current = await load(log, aggregate);
      if (current.unknown !== undefined) throw new UnknownEvent(aggregate.subject, current.unknown);
      events = decide(current.state);
    }
    if (!events.length) return { state: current.state, events: [], position: positionOf(current) };
    try {
      return await append(log, aggregate, current, events, meta);
    } catch (error) {
      if (!(error instanceof VersionConflict) || conflicts >= MOST_CONFLICTS) throw error;
      if (error.actual === undefined) await new Promise((resolve) => setTimeout(resolve, pauseMs(0))); // in flight elsewhere
      events = undefined;
    }
  }
}

/** A refusal on a cached state proves nothing; it is made again on the log's state. */
function attempt<T>(work: () => T): { value: T } | undefined {
  try {
    return { value: work() };
  } catch {
    return undefined;
  }
}

const positionOf = ({ sequence, index }: Folded<unknown>): string => formatPosition({ sequence, index });

async function append<State, Command, Event extends DomainEvent>(
  log: Pick<EventLog, 'append'>,
  { subject, decider, cache }: Aggregate<State, Command, Event>,
  current: Folded<State>,
  events: readonly DecidedBy[],
  meta: CommitMeta,
): Promise<Handled<State, Event>> {
  const appended = await log.append({ subject, expected: current.sequence, events, meta, notBefore: current.time });
  const stored = events.map(({ type, data, meta: own }) => asEvent<Event>({ type, data, time: appended.time, actor: own?.actor ?? meta.actor }));
  const folded = {
    state: stored.reduce((state, event) => decider.evolve(state, event), current.state),
    sequence: appended.sequence,
    index: events.length - 1,
    time: appended.time,
    unknown: undefined,
  };
  cache?.set(subject, folded);
  return { state: folded.state, events: stored, position: positionOf(folded) };
}
