import type { DomainEvent, NewEvent } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import type { Aggregate, Folded } from './fold';
import { asEvent, load } from './fold';
import { formatPosition } from './position';
import { pauseMs } from './stream-api';
import type { CommitMeta, EventLog } from './types';
import { VersionConflict } from './types';

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
    super('unavailable', `${subject} holds "${type}", which this version does not know; ask a newer one`, {
      subject,
      type,
    });
  }
}

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
      if (error.actual === undefined) await passing(aggregate.subject, aggregate.cache);
      events = undefined;
    }
  }
}

/** Nothing lies above the expectation: an append is in flight elsewhere, or the aggregate was erased under the cache. */
function passing(subject: string, cache: { delete(subject: string): void } | undefined): Promise<void> {
  cache?.delete(subject);
  return new Promise((resolve) => setTimeout(resolve, pauseMs(0)));
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
  const appended = await log.append({
    subject,
    expected: current.sequence,
    events,
    meta,
    notBefore: current.time,
  });
  const stored = events.map(({ type, data, meta: own }) =>
    asEvent<Event>({ type, data, time: appended.time, actor: own?.actor ?? meta.actor }),
  );
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
