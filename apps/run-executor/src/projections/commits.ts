import { currentVersion, eventType, parseSubject, upcast } from '@runyard/contracts';
import type { CloudEvent, Context } from '@runyard/contracts';
import type { ProjectedCommit } from '@runyard/persistence';

/** A commit that cannot be read: the projection stops at it instead of building a view that lacks it. */
export class DamagedCommit extends Error {
  constructor(
    readonly stream: string,
    readonly sequence: number,
    readonly position: string,
    readonly type: string | undefined,
    why: string,
  ) {
    super(`${stream} at position ${position}${type ? ` (${type})` : ''} is damaged: ${why}`);
    this.name = 'DamagedCommit';
  }
}

/** One event of a commit, lifted to the newest version of its shape. */
export interface ReadEvent {
  name: string;
  /** Trusted to have the shape that its type names: events are written by our own deciders only. */
  data: unknown;
  /** Epoch milliseconds. */
  time: number;
  index: number;
}

export interface UnknownEvent {
  type: string;
  sequence: number;
  position: string;
}

export interface ReadCommit {
  stream: string;
  context: Context;
  org: string;
  id: string;
  sequence: number;
  events: ReadEvent[];
}

const UUID = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
export const isUuid = (text: string | null): text is string => text !== null && UUID.test(text);

const text = new TextDecoder();

/**
 * Reads commits of one stream. Event types that this code does not know are handed to `onUnknown` and left out (P8.9);
 * throws {@link DamagedCommit} with stream, position and type on anything that is no commit of ours.
 */
export class CommitReader {
  /** Types at their current version, by the whole type string: spares a parse per event. */
  private readonly current = new Map<string, string>();
  private lastTime: { text: string; time: number } = { text: '', time: 0 };

  constructor(
    private readonly known: ReadonlySet<string>,
    private readonly onUnknown: (event: UnknownEvent) => void,
  ) {
    for (const name of known) this.current.set(eventType(name, currentVersion(name)), name);
  }

  read(commit: ProjectedCommit): ReadCommit {
    const subject = parseSubject(commit.subject);
    if (!subject || !isUuid(subject.org))
      throw damaged(commit, 0, undefined, `its subject ${commit.subject} is not ours`);
    const events: ReadEvent[] = [];
    for (const [index, event] of parseBatch(commit).entries()) {
      const read = this.event(commit, event, index);
      if (read) events.push(read);
    }
    return { ...subject, stream: commit.stream, sequence: commit.sequence, events };
  }

  private event(commit: ProjectedCommit, event: CloudEvent<unknown>, index: number): ReadEvent | undefined {
    if (typeof event !== 'object' || event === null || typeof event.type !== 'string')
      throw damaged(commit, index, undefined, 'it holds something that is no event');
    const time = this.timeOf(event.time);
    if (Number.isNaN(time)) throw damaged(commit, index, event.type, 'its time cannot be read');
    const name = this.current.get(event.type);
    if (name !== undefined) return { name, data: event.data, time, index };
    const lifted = this.lift(commit, event, index);
    if (lifted.known) return { name: lifted.name, data: lifted.data, time, index };
    this.onUnknown({ type: event.type, sequence: commit.sequence, position: `${commit.sequence}.${index}` });
    return undefined;
  }

  private lift(
    commit: ProjectedCommit,
    event: CloudEvent<unknown>,
    index: number,
  ): ReturnType<typeof upcast> {
    try {
      return upcast(event, (candidate) => this.known.has(candidate));
    } catch (error) {
      throw damaged(
        commit,
        index,
        event.type,
        `it cannot be lifted to the newest version (${String(error)})`,
      );
    }
  }

  /** All events of a commit carry the same time, and neighbours often do. */
  private timeOf(written: string): number {
    if (written !== this.lastTime.text) this.lastTime = { text: written, time: Date.parse(written) };
    return this.lastTime.time;
  }
}

function parseBatch(commit: ProjectedCommit): CloudEvent<unknown>[] {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text.decode(commit.body));
  } catch {
    throw damaged(commit, 0, undefined, 'its body is not JSON');
  }
  if (!Array.isArray(parsed)) throw damaged(commit, 0, undefined, 'its body is not a batch of events');
  return parsed;
}

function damaged(
  commit: ProjectedCommit,
  index: number,
  type: string | undefined,
  why: string,
): DamagedCommit {
  return new DamagedCommit(commit.stream, commit.sequence, `${commit.sequence}.${index}`, type, why);
}
