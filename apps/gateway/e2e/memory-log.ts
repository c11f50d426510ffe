import { eventType, parseSubject } from '@runyard/contracts';
import type { NewEvent } from '@runyard/contracts';
import type { Commit, EventLog, RawCommit, StreamState } from '@runyard/event-log';

/** A stream in memory with the reading side of the log: enough for specs of the fan-out, with faults on demand. */
export class MemoryLog implements Pick<EventLog, 'state' | 'tail' | 'read' | 'last' | 'lastSequence'> {
  readonly commits: Commit[] = [];
  incarnation = 'first';
  /** Called before every read; lets a spec append in the middle of a hand-over. */
  onRead: () => void | Promise<void> = () => undefined;
  private readonly tails = new Set<() => void>();
  private broken = 0;
  openTails = 0;

  append(subject: string, ...events: NewEvent[]): Commit {
    const sequence = this.commits.length + 1;
    const { org, id } = parseSubject(subject) ?? { org: '', id: '' };
    const commit: Commit = {
      stream: 'RUNS',
      subject,
      sequence,
      commitId: `commit-${sequence}`,
      storedAt: 1_700_000_000_000 + sequence,
      events: events.map((event, index) => ({
        specversion: '1.0',
        id: `commit-${sequence}.${index}`,
        source: 'run-executor',
        type: eventType(event.type, 1),
        subject: id,
        time: new Date(1_700_000_000_000 + sequence).toISOString(),
        datacontenttype: 'application/json',
        org,
        actor: 'system:spec',
        data: event.data,
      })),
    };
    this.commits.push(commit);
    for (const wake of this.tails) wake();
    return commit;
  }

  /** Ends every tail with an error, as a lost connection or a stream created anew would. */
  breakTails(): void {
    this.broken++;
    for (const wake of this.tails) wake();
  }

  async state(): Promise<StreamState> {
    return { firstSequence: 1, lastSequence: this.commits.length, incarnation: this.incarnation };
  }

  async read(subject: string, after = 0): Promise<Commit[]> {
    await this.onRead();
    return this.commits.filter((commit) => commit.subject === subject && commit.sequence > after);
  }

  async last(subject: string): Promise<Commit | undefined> {
    return this.commits.findLast((commit) => commit.subject === subject);
  }

  async lastSequence(subject: string): Promise<number> {
    return (await this.last(subject))?.sequence ?? 0;
  }

  async *tail(_stream: string, options: { after: number; signal: AbortSignal }): AsyncGenerator<RawCommit> {
    const broken = this.broken;
    let wake = () => undefined as void;
    const notify = () => wake();
    this.tails.add(notify);
    options.signal.addEventListener('abort', notify);
    this.openTails++;
    try {
      for (let at = options.after; !options.signal.aborted;) {
        if (broken !== this.broken) throw new Error('the tail broke');
        const commit = this.commits[at];
        if (commit) {
          at++;
          yield { ...commit, headers: {}, body: Buffer.from(JSON.stringify(commit.events)) };
        } else await new Promise<void>((resolve) => (wake = resolve));
      }
    } finally {
      this.openTails--;
      this.tails.delete(notify);
    }
  }
}
