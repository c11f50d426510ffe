import type { DomainEvent, NewEvent } from '@runyard/contracts';
import type { Decided, Decider } from '@runyard/event-log';

/** What a decider may answer. `thenNothing`: the command's wish was already true. */
export interface Then<Event> {
  /** Exactly these events, by type and data. */
  then(...events: Decided<Event>[]): void;
  thenNothing(): void;
  /** Refused: by a Problem's code, an error class or a text in the message. */
  thenRefused(because: string | RegExp | (new (...args: never[]) => Error)): void;
  /** For what `then` cannot say. */
  decided(): Decided<Event>[];
}

export interface When<Command, Event> {
  when(command: Command): Then<Event>;
}

/** An event as a test writes it: time and actor have defaults. */
export type Past<Event extends DomainEvent> = Event extends DomainEvent
  ? Pick<Event, 'type' | 'data'> & Partial<Pick<Event, 'time' | 'actor'>>
  : never;

/**
 * Given events, when a command, then events (style, habit 6):
 *
 *   const given = deciderSpec(run);
 *   given(queued).when({ type: 'Cancel' }).then({ type: 'RunCancelled', data: { reason: 'user' } });
 */
export function deciderSpec<State, Command, Event extends DomainEvent>(
  decider: Decider<State, Command, Event>,
): (...events: Past<Event>[]) => When<Command, Event> {
  return (...past) => {
    const state = past.reduce(
      (folded, event, index) => decider.evolve(folded, complete(event, index)),
      decider.initial,
    );
    return { when: (command) => outcomes(() => decider.decide(state, command)) };
  };
}

const complete = <Event extends DomainEvent>(event: Past<Event>, index: number): Event =>
  Object.assign({ time: 1_000 + index, actor: 'system:test' as const }, event) as DomainEvent as Event;

function outcomes<Event extends DomainEvent>(decide: () => Decided<Event>[]): Then<Event> {
  const said = () => (decide() as NewEvent[]).map(({ type, data }) => ({ type, data }));
  return {
    decided: decide,
    then: (...events) => expect(said()).toEqual(events),
    thenNothing: () => expect(said()).toEqual([]),
    thenRefused(because) {
      const error = thrownBy(decide);
      if (typeof because === 'function') expect(error).toBeInstanceOf(because);
      else if (typeof because === 'string' && 'code' in error) expect(error.code).toBe(because);
      else expect(error.message).toMatch(because);
    },
  };
}

function thrownBy(work: () => unknown): Error {
  try {
    const result = work();
    throw new Error(`It was not refused but decided ${JSON.stringify(result)}`);
  } catch (error) {
    return error as Error;
  }
}
