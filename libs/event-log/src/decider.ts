import type { DomainEvent, NewEvent } from '@runyard/contracts';

/** An event as `decide` gives it: time and actor are added when it is appended. Whole events are accepted as well. */
export type Decided<Event> = Event extends DomainEvent<infer Type, infer Data> ? NewEvent<Type, Data> : never;

/**
 * The three functions of an aggregate. Pure: time, ids and randomness travel in the command. A command whose wish is
 * already true yields no events; a refusal is thrown as a Problem.
 */
export interface Decider<State, Command, Event> {
  initial: State;
  evolve(state: State, event: Event): State;
  decide(state: State, command: Command): Decided<Event>[];
}
