import { parseSubject, upcast } from '@runyard/contracts';
import type { Actor, CloudEvent, Context } from '@runyard/contracts';
import type { ProjectedCommit } from '@runyard/persistence';

/** An event as these projections read it. */
export interface Recorded {
  context: Context;
  org: string;
  /** Id of the aggregate. */
  id: string;
  type: string;
  data: unknown;
  /** RFC 3339. */
  time: string;
  actor: Actor;
  /** `<stream sequence>.<index>`. */
  position: string;
}

/** An event of a known type: the table of known events and the upcasters vouch for its shape. */
export type RecordedAs<E> = E extends { type: string; data: unknown }
  ? Omit<Recorded, 'type' | 'data'> & Pick<E, 'type' | 'data'>
  : never;

const text = new TextDecoder();

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Events of commits in order, upcast to the newest shape. Subjects of no org and unknown events are left out (P8.9). */
export function recorded(
  commits: readonly ProjectedCommit[],
  isKnown: (name: string) => boolean,
): Recorded[] {
  return commits.flatMap((commit) => {
    const subject = parseSubject(commit.subject);
    return subject && UUID.test(subject.org)
      ? eventsOf(commit).flatMap((event, index) => known(event, index))
      : [];

    function known(event: CloudEvent<unknown>, index: number): Recorded[] {
      const lifted = upcast(event, isKnown);
      if (!lifted.known || !subject) return [];
      const position = `${commit.sequence}.${index}`;
      return [
        { ...subject, type: lifted.name, data: lifted.data, time: event.time, actor: event.actor, position },
      ];
    }
  });
}

/** A body that is no batch of events stops the projection with its place, instead of leaving a hole in silence. */
function eventsOf(commit: ProjectedCommit): CloudEvent<unknown>[] {
  const batch: unknown = JSON.parse(text.decode(commit.body));
  if (!Array.isArray(batch))
    throw new Error(`${commit.stream} ${commit.sequence} (${commit.subject}) is not a batch of events`);
  return batch;
}
