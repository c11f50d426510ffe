import { createInbox } from '@nats-io/transport-node';
import type { Msg } from '@nats-io/transport-node';
import type { IntakeAnswer } from '@runyard/contracts';
import { REPLY_HEADER, requestSubject } from '@runyard/contracts';
import { connectEventLog, runIdOf } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { feedOfContents, feedOfHeaders } from './commit-feed';

/** A run as it was seen from outside; times in milliseconds of this process's monotonic clock. */
export interface FollowedRun {
  runId: string;
  sentAt: number;
  /** When intake's answer came. */
  acceptedAt: number;
  /** When each commit was seen in the log. */
  commitsAt: number[];
  endedAt: number;
  /** When another executor went on with it; only where contents are read. */
  recoveredAt: number[];
  /** How it ended; only where contents are read. */
  end: string | undefined;
}

interface Follower {
  run: FollowedRun;
  /** The commit that ends it; undefined: its contents tell. */
  commits: number | undefined;
  done: (run: FollowedRun) => void;
  fail: (error: Error) => void;
}

const END = /"runyard\.(RunSucceeded|RunFailed|RunCancelled|RunSkipped)\.v/;
const RECOVERED = '"runyard.RunRecovered.';

/** The commit that holds the first model turn: the first one queues and claims the run and announces the model call. */
const FIRST_STEP = 1;
export const firstStepAt = (run: FollowedRun): number => run.commitsAt[FIRST_STEP] ?? Number.NaN;

/** Asks for runs as any service does: over the work queue `REQUESTS`, with a reply subject. */
export class Requester {
  private readonly followers = new Map<string, Follower>();
  private readonly inbox = createInbox();
  private readonly session = Date.now().toString(36);
  private readonly stopping = new AbortController();
  private serial = 0;

  private constructor(
    private readonly bus: EventLogConnection,
    private readonly org: string,
    private readonly userId: string,
  ) {
    bus.connection.subscribe(this.inbox, {
      callback: (error, message) => void (error ?? this.answer(message)),
    });
  }

  /** `contents`: read what commits hold, which costs more; without, ends are told by the number of commits. */
  static async connect(
    natsUrl: string,
    { org, userId }: { org: string; userId: string },
    contents: boolean,
  ): Promise<Requester> {
    const bus = await connectEventLog({ servers: natsUrl, name: 'benchmark' });
    const requester = new Requester(bus, org, userId);
    const onCommit = (runId: string, body: Buffer) => requester.commit(runId, body);
    await (contents
      ? feedOfContents(bus, requester.stopping.signal, onCommit)
      : feedOfHeaders(bus, onCommit));
    return requester;
  }

  /** Asks for a run and resolves at its end. `started` hears of it as soon as it has an id. */
  run(
    agentId: string,
    commits?: number,
    started: (run: FollowedRun) => void = () => undefined,
  ): Promise<FollowedRun> {
    const key = `${this.session}-${this.serial++}`;
    const runId = runIdOf(this.org, key);
    return new Promise((resolve, reject) => {
      const never = { acceptedAt: Number.NaN, endedAt: Number.NaN, end: undefined };
      const run = { runId, sentAt: performance.now(), commitsAt: [], recoveredAt: [], ...never };
      this.followers.set(runId, { run, commits, done: resolve, fail: reject });
      started(run);
      const body = {
        key,
        agent_id: agentId,
        input: 'Begin.',
        trigger: 'manual',
        requested_by: `user:${this.userId}`,
      };
      this.bus.queues.publish(requestSubject(this.org), body, { [REPLY_HEADER]: this.inbox }).catch(reject);
    });
  }

  /** So many runs of so many commits each, so many of them under way at once. */
  async runs(agentId: string, commits: number, count: number, concurrency: number): Promise<FollowedRun[]> {
    const ended: FollowedRun[] = [];
    let left = count;
    const worker = async () => {
      while (left-- > 0) ended.push(await this.run(agentId, commits));
    };
    await Promise.all(Array.from({ length: Math.min(count, concurrency) }, worker));
    return ended;
  }

  async lastSequence(): Promise<number> {
    return (await this.bus.log.state('RUNS')).lastSequence;
  }

  close(): Promise<void> {
    this.stopping.abort();
    return this.bus.close();
  }

  private answer(message: Msg): void {
    const answer = message.json<IntakeAnswer>();
    // A refusal names no run; the benchmark asks for nothing that could be refused.
    if (!answer.ok)
      return this.followers.forEach(({ fail }) => fail(new Error(`${answer.code}: ${answer.message}`)));
    const follower = this.followers.get(answer.run_id);
    if (!follower) return;
    follower.run.acceptedAt = performance.now();
    this.finish(follower);
  }

  private commit(runId: string, body: Buffer): void {
    const follower = this.followers.get(runId);
    if (!follower) return;
    const { run, commits } = follower;
    const now = performance.now();
    const count = run.commitsAt.push(now);
    if (commits === undefined) {
      const text = body.toString('latin1');
      if (text.includes(RECOVERED)) run.recoveredAt.push(now);
      run.end = END.exec(text)?.[1];
    }
    if (commits === undefined ? run.end === undefined : count < commits) return;
    run.endedAt = now;
    this.finish(follower);
  }

  /** Answer and end come by different ways, in any order. */
  private finish({ run, done }: Follower): void {
    if (Number.isNaN(run.endedAt) || Number.isNaN(run.acceptedAt)) return;
    this.followers.delete(run.runId);
    done(run);
  }
}
