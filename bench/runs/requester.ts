import { createInbox } from '@nats-io/transport-node';
import type { Msg } from '@nats-io/transport-node';
import type { IntakeAnswer } from '@runyard/contracts';
import { REPLY_HEADER, requestSubject } from '@runyard/contracts';
import { connectEventLog, runIdOf } from '@runyard/event-log';
import type { EventLogConnection, RawCommit } from '@runyard/event-log';

/** A run as it was seen from outside; times in milliseconds of this process's monotonic clock. */
export interface FollowedRun {
  runId: string;
  sentAt: number;
  /** When intake's answer came. */
  acceptedAt: number;
  /** When the commit with the first model turn came by. */
  firstStepAt: number;
  endedAt: number;
  succeeded: boolean;
  /** When each commit came by. */
  commitsAt: number[];
  /** When another executor went on with it. */
  recoveredAt: number[];
}

interface Follower {
  run: FollowedRun;
  done(run: FollowedRun): void;
  fail(error: Error): void;
}

const SUCCEEDED = '"runyard.RunSucceeded.';
const OTHER_ENDS = ['"runyard.RunFailed.', '"runyard.RunCancelled.', '"runyard.RunSkipped.'];
const FIRST_TURN = '"runyard.ModelTurnCompleted.';
const RECOVERED = '"runyard.RunRecovered.';

/**
 * Asks for runs as any service does (work queue `REQUESTS` with a reply subject) and reads one tail of the stream RUNS, as
 * the gateway does for its viewers: a core subscription would see commits before they are stored.
 */
export class Requester {
  private readonly followers = new Map<string, Follower>();
  private readonly inbox = createInbox();
  private serial = 0;
  private readonly session = Date.now().toString(36);
  private readonly stopping = new AbortController();

  private constructor(
    private readonly bus: EventLogConnection,
    private readonly org: string,
    private readonly userId: string,
  ) {
    bus.connection.subscribe(this.inbox, { callback: (error, message) => void (error ?? this.answer(message)) });
  }

  static async connect(natsUrl: string, org: string, userId: string): Promise<Requester> {
    const bus = await connectEventLog({ servers: natsUrl, name: 'benchmark' });
    const requester = new Requester(bus, org, userId);
    const { lastSequence } = await bus.log.state('RUNS');
    void requester.watch(lastSequence);
    return requester;
  }

  /** Asks for a run and resolves at its end. `started` hears of it as soon as it has an id. */
  run(agentId: string, started: (run: FollowedRun) => void = () => undefined): Promise<FollowedRun> {
    const key = `${this.session}-${this.serial++}`;
    const runId = runIdOf(this.org, key);
    return new Promise((resolve, reject) => {
      const never = Number.NaN;
      const times = { acceptedAt: never, firstStepAt: never, endedAt: never };
      const run = { runId, sentAt: performance.now(), ...times, succeeded: false, commitsAt: [], recoveredAt: [] };
      this.followers.set(runId, { run, done: resolve, fail: reject });
      started(run);
      const body = { key, agent_id: agentId, input: 'Begin.', trigger: 'manual', requested_by: `user:${this.userId}` };
      this.bus.queues.publish(requestSubject(this.org), body, { [REPLY_HEADER]: this.inbox }).catch(reject);
    });
  }

  /** So many runs, so many of them under way at once. */
  async runs(agentId: string, count: number, concurrency: number): Promise<FollowedRun[]> {
    const ended: FollowedRun[] = [];
    let left = count;
    const worker = async () => {
      while (left-- > 0) ended.push(await this.run(agentId));
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

  private async watch(after: number): Promise<void> {
    const { signal } = this.stopping;
    for await (const batch of this.bus.log.tailBatches('RUNS', { after, signal })) batch.forEach((raw) => this.commit(raw));
  }

  private answer(message: Msg): void {
    const answer = message.json<IntakeAnswer>();
    // A refusal names no run; the benchmark makes none.
    if (!answer.ok) return this.followers.forEach(({ fail }) => fail(new Error(`${answer.code}: ${answer.message}`)));
    const follower = this.followers.get(answer.run_id);
    if (!follower) return;
    follower.run.acceptedAt = performance.now();
    this.finish(follower);
  }

  private commit(raw: RawCommit): void {
    const follower = this.followers.get(raw.subject.slice(raw.subject.lastIndexOf('.') + 1));
    if (!follower) return;
    const { run } = follower;
    const now = performance.now();
    const body = Buffer.from(raw.body.buffer, raw.body.byteOffset, raw.body.byteLength);
    run.commitsAt.push(now);
    if (Number.isNaN(run.firstStepAt) && body.includes(FIRST_TURN)) run.firstStepAt = now;
    if (body.includes(RECOVERED)) run.recoveredAt.push(now);
    run.succeeded = body.includes(SUCCEEDED);
    if (!run.succeeded && !OTHER_ENDS.some((end) => body.includes(end))) return;
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
