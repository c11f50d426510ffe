import { Problem, subjectOf } from '@runyard/contracts';
import type { EventLog } from '@runyard/event-log';
import type { Credential } from '../credentials/credential';
import { checkCursor, formatCursor, isAfter, parseCursor } from './cursor';
import type { Cursor } from './cursor';
import { commitEndsRun, endsRun, framesOf } from './frame';
import type { RunEventFrame } from './frame';
import type { RunTail } from './run-tail.process';
import { StreamedCommit } from './streamed-commit';
import { OpenViewers } from './open-viewers';
import { Viewer } from './viewer';
import type { ViewerLimits } from './viewer';

export interface StreamLimits extends ViewerLimits {
  /** Viewers of this process; more are asked to come back. */
  maxViewers: number;
}

/** A run's history from a cursor on, read before anything is answered, so that refusals are still possible. */
export interface RunHistory {
  runId: string;
  subject: string;
  after: Cursor | undefined;
  incarnation: string;
  commits: readonly StreamedCommit[];
  frames: readonly RunEventFrame[];
  /** The run has ended, and the log shows it. */
  ended: boolean;
}

/** A page of history as JSON. */
export interface EventPage {
  data: RunEventFrame[];
  next_cursor: string | null;
  /** Cursor of the last event on the page, or the one that was asked with: where to go on later. */
  last_cursor: string | null;
  ended: boolean;
}

const BIRTHS: ReadonlySet<string> = new Set(['RunQueued', 'RunSkipped', 'RunFailed']);

type ReadableLog = Pick<EventLog, 'state' | 'read' | 'last'>;

/** Runs as streams of events: history from the log, live from the one tail, cursors that outlive connections. */
export class RunStreams {
  /** Shared by all streams of this process: the room is one. */
  readonly viewers: OpenViewers;

  constructor(
    private readonly log: ReadableLog,
    private readonly tail: RunTail,
    private readonly limits: StreamLimits,
  ) {
    this.viewers = new OpenViewers(limits.maxViewers);
  }

  get size(): number {
    return this.viewers.size;
  }

  /** Throws `invalid_cursor`, and `cursor_expired` where the log cannot continue from the cursor. */
  async history(org: string, runId: string, afterText: string | undefined): Promise<RunHistory> {
    const subject = subjectOf('runs', org, runId);
    const after = afterText === undefined ? undefined : parseCursor(afterText);
    const state = await this.log.state('RUNS');
    if (after) checkCursor(after, state, `/v1/runs/${runId}`);
    const commits = await this.log.read(subject, after ? Math.max(0, after.sequence - 1) : 0);
    if (after && after.sequence < state.firstSequence - 1) await this.refuseCutHistory(subject, runId);
    const frames = upToEnd(commits.flatMap((commit) => framesOf(commit))).filter((frame) =>
      isAfter(placeOf(frame), after),
    );
    return {
      runId,
      subject,
      after,
      incarnation: state.incarnation,
      commits: commits.map((commit) => new StreamedCommit(commit, state.incarnation)),
      frames,
      ended: commits.some(commitEndsRun) || (commits.length === 0 && (await this.endsWithLast(subject))),
    };
  }

  /** The rest of the run as an SSE body. The credential's end is the stream's end: the client comes back and is asked again. */
  open(history: RunHistory, credential: Credential | undefined): Viewer {
    this.viewers.requireRoom();
    const { runId, subject, after, incarnation, commits } = history;
    const viewer = new Viewer(
      {
        about: { run_id: runId },
        subject,
        after,
        history: commits,
        readAfter: async (sequence) =>
          (await this.log.read(subject, sequence)).map((commit) => new StreamedCommit(commit, incarnation)),
      },
      this.tail,
      this.limits,
    );
    this.viewers.add(viewer, credential);
    return viewer;
  }

  /** A page of history; `limit` events at most. */
  page(history: RunHistory, limit: number): EventPage {
    const data = history.frames.slice(0, limit);
    const last = data.at(-1);
    const cursor = last
      ? formatCursor({ incarnation: history.incarnation, ...placeOf(last) })
      : history.after && formatCursor(history.after);
    const more = history.frames.length > data.length;
    return {
      data,
      next_cursor: more ? (cursor ?? null) : null,
      last_cursor: cursor ?? null,
      ended: history.ended,
    };
  }

  /** Ends streams of an org whose credentials may have changed: each client comes back and shows its credential again. */
  dismissOrg(org: string): void {
    this.viewers.dismissOrg(org);
  }

  /** Ends all streams; resolves when their last bytes are on their way, or after a second. */
  dismissAll(): Promise<void> {
    return this.viewers.dismissAll();
  }

  /** A run's first event is its birth (or its fence, P2.6). If something else comes first, the log was cut. */
  private async refuseCutHistory(subject: string, runId: string): Promise<void> {
    const first = (await this.log.read(subject)).flatMap((commit) => framesOf(commit))[0];
    if (first === undefined || BIRTHS.has(first.type)) return;
    throw new Problem('cursor_expired', 'Events after this position are no longer in the event log', {
      snapshot: `/v1/runs/${runId}`,
    });
  }

  private async endsWithLast(subject: string): Promise<boolean> {
    const last = await this.log.last(subject);
    return (
      last !== undefined && framesOf(last).some((frame) => endsRun(frame.type) || frame.type === 'RunDeleted')
    );
  }
}

/** Nothing is shown after the event that ends a run. */
function upToEnd(frames: RunEventFrame[]): RunEventFrame[] {
  const end = frames.findIndex((frame) => endsRun(frame.type));
  return end < 0 ? frames : frames.slice(0, end + 1);
}

function placeOf(frame: RunEventFrame): { sequence: number; index: number } {
  const [sequence, index] = frame.position.split('.');
  return { sequence: Number(sequence), index: Number(index) };
}
