import type { WeekEvent } from '@runyard/contracts';
import { evolveWeek } from './week';
import type { WeekState } from './week';
import { decideWeek } from './week-decisions';
import type { WeekCommand, WeekDecision } from './week-decisions';

/** Where the week stands right after a command, and what that command led to. */
export interface Decision {
  events: WeekDecision[];
  after: WeekState;
}

/** Folds what was decided and is not in the log yet; nothing of a week depends on times and actors. */
export const foldDecided = (week: WeekState, events: readonly WeekDecision[]): WeekState =>
  events.reduce<WeekState>(
    (state, { type, data }) =>
      evolveWeek(state, { type, data, time: 0, actor: 'system:budget-ledger' } as WeekEvent),
    week,
  );

/** Commands that share a commit: each is decided on what those before it have left. */
export function decideTogether(week: WeekState, commands: readonly WeekCommand[]): Decision[] {
  let state = week;
  return commands.map((command) => {
    const events = decideWeek(state, command);
    state = foldDecided(state, events);
    return { events, after: state };
  });
}
