import type { ActivityTopic } from '@runyard/contracts';

/** Whom and what an entry concerns: what its event says of it, and what earlier ones of the same thing said. */
export interface ActivityFacts {
  owner_id: string | null;
  requested_by: string | null;
  agent_id: string | null;
  run_id: string | null;
  task_id: string | null;
}

/** What an event says to people. */
export interface ActivityLine {
  topic: ActivityTopic;
  kind: string;
  /** What the actor did; names, numbers and codes, never content. */
  summary: string;
  /** Id of the thing, where it is not the aggregate. */
  subject?: string;
  /** Who did it, where that is not the event's actor. */
  actor?: string;
  facts?: Partial<ActivityFacts>;
  /** Ids of things of which nothing may be known any more: their entries before this one go. */
  forgets?: readonly string[];
}

/** Entries by event type and id of the aggregate; types that are missing make none. */
export type LinesOf<Event extends { type: string }> = {
  readonly [Name in Event['type']]?: (
    event: Extract<Event, { type: Name }>,
    id: string,
  ) => ActivityLine | null;
};

/** `1 step`, `2 steps`. */
export const counted = (count: number, what: string): string =>
  `${count.toLocaleString('en-US')} ${what}${count === 1 ? '' : 's'}`;
