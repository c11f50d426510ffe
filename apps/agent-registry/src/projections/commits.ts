import { parseSubject } from '@runyard/contracts';
import type { Actor, Context } from '@runyard/contracts';
import { eventsOf } from '@runyard/persistence';
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

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Events of commits in order, upcast to the newest shape. Subjects of no org and unknown events are left out (P8.9). */
export function recorded(
  commits: readonly ProjectedCommit[],
  known: Readonly<Record<string, unknown>>,
): Recorded[] {
  return commits.flatMap((commit) => {
    const subject = parseSubject(commit.subject);
    if (!subject || !UUID.test(subject.org)) return [];
    return eventsOf(commit, known).map(({ event, sequence, index }) => {
      const { type, data, actor } = event;
      return {
        ...subject,
        type,
        data,
        actor,
        time: new Date(event.time).toISOString(),
        position: `${sequence}.${index}`,
      };
    });
  });
}
