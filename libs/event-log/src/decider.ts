/**
 * The three functions of an aggregate. Pure: time, ids and randomness travel in the command. A command whose wish is
 * already true yields no events; a refusal is thrown as a Problem.
 */
export interface Decider<State, Command, Event> {
  initial: State;
  evolve(state: State, event: Event): State;
  decide(state: State, command: Command): Event[];
}
