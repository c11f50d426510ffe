import { CONTEXT_STREAMS, Problem, orgSubjects } from '@runyard/contracts';
import { decodeCommit } from '@runyard/event-log';
import type { EventLog, RawCommit, StreamState } from '@runyard/event-log';
import type { Call } from '../door/call';
import { BoardCommit, placeOf } from './board-commit';
import type { BoardFrame, BoardSight } from './board-commit';
import { checkCursor, formatCursor, isAfter, parseCursor } from './cursor';
import type { Cursor } from './cursor';
import type { RunStreams, StreamLimits } from './run-streams';
import type { Followed, RunTail } from './run-tail.process';
import { Viewer } from './viewer';

/** Commits (of all orgs) that a client may have missed; who was away for longer reads the board anew. */
const MOST_MISSED = 20_000;
const STREAM = CONTEXT_STREAMS.tasks;
const SNAPSHOT = '/v1/tasks';

/** Every commit of an org goes to all of its board's viewers. */
const boardKey = (org: string): string => `board ${org}`;

const orgOf = ({ subject }: Pick<RawCommit, 'subject'>): string => subject.split('.')[3] ?? '';

/** How the tail of TASKS finds its viewers. What each may see is decided when it reaches them. */
export const BOARDS: Followed = {
  stream: STREAM,
  keyOf: (commit) => boardKey(orgOf(commit)),
  read: (raw, incarnation) => new OrgCommit(new BoardCommit(decodeCommit(raw), incarnation)),
};

/** A commit before it is known who looks: shows nothing by itself. */
class OrgCommit {
  readonly ends = false;
  readonly size = 0;

  constructor(readonly commit: BoardCommit) {}

  get sequence(): number {
    return this.commit.sequence;
  }

  textAfter(): string {
    return '';
  }
}

export interface BoardPage {
  data: BoardFrame[];
  next_cursor: string | null;
  last_cursor: string | null;
}

const sightOf = ({ caller }: Call): BoardSight =>
  caller.roles.some((role) => role === 'admin' || role === 'operator' || role === 'service')
    ? { all: true }
    : { all: false, userId: caller.userId };

/** An org's board as a stream of changes: what was missed from the log, live from the one tail. */
export class BoardStreams {
  constructor(
    private readonly log: Pick<EventLog, 'state' | 'read'>,
    private readonly tail: RunTail,
    private readonly runs: Pick<RunStreams, 'viewers'>,
    private readonly limits: StreamLimits,
  ) {}

  /** Without a cursor the stream begins now: whoever opens it reads the board afterwards and misses nothing. */
  async open(call: Call, afterText: string | undefined): Promise<Viewer> {
    this.runs.viewers.requireRoom();
    const { org } = call.caller;
    const sight = sightOf(call);
    const state = await this.log.state(STREAM);
    const after = this.cursorOf(afterText, state) ?? {
      ...state,
      sequence: state.lastSequence,
      index: LAST_INDEX,
    };
    const seen = (commits: readonly BoardCommit[]) => commits.map((commit) => commit.seenWith(sight));
    const viewer = new Viewer(
      {
        about: {},
        subject: boardKey(org),
        startsAt: formatCursor(after),
        after,
        history: seen(await this.missed(org, Math.max(0, after.sequence - 1), state)),
        readAfter: async (sequence) => seen(await this.missed(org, sequence, state)),
      },
      this.tailFor(sight),
      this.limits,
    );
    this.runs.viewers.add(viewer, call.credential);
    return viewer;
  }

  /** A page of changes after a cursor, oldest first. */
  async page(call: Call, afterText: string | undefined, limit: number): Promise<BoardPage> {
    const state = await this.log.state(STREAM);
    const after = this.cursorOf(afterText, state);
    const from = Math.max(0, after ? after.sequence - 1 : state.lastSequence - MOST_MISSED);
    const commits = await this.missed(call.caller.org, from, state);
    const frames = commits
      .flatMap((commit) => commit.framesFor(sightOf(call)))
      .filter((frame) => isAfter(placeOf(frame), after));
    const data = frames.slice(0, limit);
    const last = data.at(-1);
    const place = last ? { incarnation: state.incarnation, ...placeOf(last) } : after;
    const cursor = place ? formatCursor(place) : null;
    return { data, next_cursor: frames.length > data.length ? cursor : null, last_cursor: cursor };
  }

  private cursorOf(
    text: string | undefined,
    state: { lastSequence: number; incarnation: string },
  ): Cursor | undefined {
    if (text === undefined) return undefined;
    const cursor = parseCursor(text);
    checkCursor(cursor, state, SNAPSHOT);
    return cursor;
  }

  private tailFor(sight: BoardSight): Pick<RunTail, 'subscribe'> {
    return {
      subscribe: (key, subscriber) =>
        this.tail.subscribe(key, {
          onCommit: (commit) => {
            if (commit instanceof OrgCommit) subscriber.onCommit(commit.commit.seenWith(sight));
          },
          onLost: () => subscriber.onLost(),
        }),
    };
  }

  /** An org's commits above a sequence. Throws `cursor_expired` where too much has happened since. */
  private async missed(org: string, after: number, state: StreamState): Promise<BoardCommit[]> {
    if (state.lastSequence - after > MOST_MISSED)
      throw new Problem('cursor_expired', 'Too much has changed since; read the board anew', {
        snapshot: SNAPSHOT,
      });
    const commits = await this.log.read(orgSubjects('tasks', org), after);
    return commits.map((commit) => new BoardCommit(commit, state.incarnation));
  }
}

/** After whatever the last commit holds. */
const LAST_INDEX = 999_999;
