import type { LogStream } from '@runyard/contracts';
import { LogUnavailable, VersionConflict } from '@runyard/event-log';
import type {
  Appended,
  Commit,
  EventLog,
  NewCommit,
  RawCommit,
  StreamState,
  TailOptions,
} from '@runyard/event-log';
import type { Fault } from './health';
import type { Metrics } from './metrics';

/** Appends that failed within this time keep readiness red: a full disk shows here and nowhere else. */
const FAILING_MS = 10_000;

/** The log with a stop watch: measures appends and remembers when they fail for want of an answer. */
export class ObservedEventLog implements EventLog {
  private failedAt: number | undefined;

  constructor(
    private readonly log: EventLog,
    private readonly metrics: Metrics,
  ) {}

  async append(commit: NewCommit): Promise<Appended> {
    const done = this.metrics.appendSeconds.startTimer({ context: commit.subject.split('.')[1] ?? '' });
    try {
      const appended = await this.log.append(commit);
      done({ outcome: 'ok' });
      this.failedAt = undefined;
      return appended;
    } catch (error) {
      done({ outcome: error instanceof VersionConflict ? 'conflict' : 'failed' });
      if (error instanceof LogUnavailable) this.failedAt = performance.now();
      throw error;
    }
  }

  /** For readiness: whether the log refused to answer lately. */
  fault(): Fault | null {
    if (this.failedAt === undefined || performance.now() - this.failedAt > FAILING_MS) return null;
    return { code: 'append_failing', detail: 'the log does not acknowledge appends' };
  }

  read(subject: string, after?: number): Promise<Commit[]> {
    return this.log.read(subject, after);
  }
  lastSequence(subject: string): Promise<number> {
    return this.log.lastSequence(subject);
  }
  last(subject: string): Promise<Commit | undefined> {
    return this.log.last(subject);
  }
  state(stream: LogStream): Promise<StreamState> {
    return this.log.state(stream);
  }
  tail(stream: LogStream, options: TailOptions): AsyncIterable<RawCommit> {
    return this.log.tail(stream, options);
  }
  tailBatches(stream: LogStream, options: TailOptions): AsyncIterable<RawCommit[]> {
    return this.log.tailBatches(stream, options);
  }
  onAppend(subjectPattern: string, wake: (subject: string) => void): () => void {
    return this.log.onAppend(subjectPattern, wake);
  }
}
