import { JointTail } from './joint-tail';
import type { PacedTail, TailSource } from './joint-tail';
import { LogUnavailable } from './types';
import type { RawCommit, TailOptions } from './types';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const until = async (condition: () => boolean) => {
  for (let i = 0; i < 1_000 && !condition(); i++) await turn();
  expect(condition()).toBe(true);
};

const commit = (sequence: number, bytes = 1): RawCommit => ({
  stream: 'RUNS',
  subject: 'runyard.runs.0.acme.r',
  sequence,
  commitId: String(sequence),
  storedAt: 0,
  headers: {},
  body: new Uint8Array(bytes),
});

/** A stream in memory that counts who reads it. */
class Stream {
  private readonly commits: RawCommit[] = [];
  private wakes: (() => void)[] = [];
  opened: number[] = [];
  open = 0;
  delivered = 0;
  failure: Error | undefined;

  append(count: number, bytes?: number): void {
    for (let i = 0; i < count; i++) this.commits.push(commit(this.commits.length + 1, bytes));
    this.wakes.splice(0).forEach((wake) => wake());
  }

  fail(error: Error): void {
    this.failure = error;
    this.wakes.splice(0).forEach((wake) => wake());
  }

  async *tail({ after, signal }: TailOptions): AsyncGenerator<RawCommit[]> {
    this.opened.push(after);
    this.open++;
    signal.addEventListener('abort', () => this.wakes.splice(0).forEach((wake) => wake()));
    try {
      for (let at = after; !signal.aborted;) {
        if (this.failure) throw this.failure;
        const batch = this.commits.slice(at, at + 4);
        at += batch.length;
        this.delivered += batch.length;
        if (batch.length > 0) yield batch;
        else await new Promise<void>((resolve) => this.wakes.push(resolve));
      }
    } finally {
      this.open--;
    }
  }
}

function follow(
  joint: { read(options: PacedTail): AsyncGenerator<RawCommit[]> },
  after: number,
  gate: () => Promise<void> = async () => undefined,
) {
  const abort = new AbortController();
  const got: number[] = [];
  const done = (async () => {
    for await (const batch of joint.read({ after, pace: { gatherMs: 10 }, signal: abort.signal })) {
      got.push(...batch.map(({ sequence }) => sequence));
      await gate();
    }
  })();
  done.catch(() => undefined);
  return { got, done, stop: () => (abort.abort(), done) };
}

const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
/** A joint tail of readers with one connection. */
function joint(stream: Stream, mostBytes?: number, check = async () => undefined as void) {
  const tail = new JointTail(mostBytes);
  return over(tail, { tail: (options) => stream.tail(options), check });
}
const over = (tail: JointTail, source: TailSource) => ({
  read: (options: PacedTail) => tail.read(options, source),
});

it('reads a stream once, whoever follows it, and ends with the last of them', async () => {
  const stream = new Stream();
  const tail = joint(stream);
  stream.append(10);
  const readers = [follow(tail, 0), follow(tail, 0), follow(tail, 7)];
  await until(() => readers.every(({ got }) => got.at(-1) === 10));
  stream.append(5);
  await until(() => readers.every(({ got }) => got.at(-1) === 15));
  expect(readers.map(({ got }) => got)).toEqual([numbers(1, 15), numbers(1, 15), numbers(8, 15)]);
  expect(stream.opened).toEqual([0]);
  expect(stream.delivered).toBe(15);
  await Promise.all(readers.map(({ stop }) => stop()));
  expect(stream.open).toBe(0);
});

it('lets who is behind catch up by himself and then join', async () => {
  const stream = new Stream();
  const tail = joint(stream);
  stream.append(20);
  const ahead = follow(tail, 12);
  await until(() => ahead.got.at(-1) === 20);
  const behind = follow(tail, 0);
  await until(() => behind.got.at(-1) === 20 && stream.open === 1);
  stream.append(3);
  await until(() => ahead.got.at(-1) === 23 && behind.got.at(-1) === 23);
  expect(behind.got).toEqual(numbers(1, 23));
  expect(ahead.got).toEqual(numbers(13, 23));
  await Promise.all([ahead.stop(), behind.stop()]);
  expect(stream.open).toBe(0);
});

it('keeps no more for a slow reader than it may, and nobody waits for him', async () => {
  const stream = new Stream();
  const tail = joint(stream, 4_000);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  const quick = follow(tail, 0);
  const slow = follow(tail, 0, () => held);
  stream.append(40, 1_000);
  await until(() => quick.got.at(-1) === 40);
  expect(slow.got).toEqual([1, 2, 3, 4]);
  release();
  await until(() => slow.got.at(-1) === 40);
  expect(slow.got).toEqual(numbers(1, 40));
  expect(stream.opened.length).toBeGreaterThan(1);
  await Promise.all([quick.stop(), slow.stop()]);
  expect(stream.open).toBe(0);
});

it('tells everybody who follows what the stream threw, and starts anew for who comes then', async () => {
  const stream = new Stream();
  const tail = joint(stream);
  stream.append(2);
  const readers = [follow(tail, 0), follow(tail, 0)];
  await until(() => readers.every(({ got }) => got.length === 2));
  stream.fail(new Error('replaced'));
  for (const { done } of readers) await expect(done).rejects.toThrow('replaced');
  stream.failure = undefined;
  const again = follow(tail, 1);
  await until(() => again.got.at(-1) === 2);
  await again.stop();
  expect(stream.open).toBe(0);
});

it('goes on over another connection where the one that read is lost, whose own readers hear of it', async () => {
  const [lost, kept] = [new Stream(), new Stream()];
  for (const stream of [lost, kept]) stream.append(3);
  const tail = new JointTail();
  const through = (stream: Stream) =>
    over(tail, { tail: (options) => stream.tail(options), check: async () => undefined });
  const first = follow(through(lost), 0);
  await until(() => first.got.length === 3);
  const second = follow(through(kept), 3);
  lost.append(1);
  await until(() => second.got.length === 1);
  expect(kept.opened).toEqual([]);
  lost.fail(new LogUnavailable('The connection is closed'));
  await expect(first.done).rejects.toThrow('closed');
  kept.append(3);
  await until(() => second.got.at(-1) === 6);
  expect(second.got).toEqual([4, 5, 6]);
  expect(kept.opened).toEqual([4]);
  await second.stop();
  expect([lost.open, kept.open]).toEqual([0, 0]);
});

it('tells readers of every connection what was found of the stream', async () => {
  const stream = new Stream();
  stream.append(2);
  const tail = new JointTail();
  const through = () => over(tail, { tail: (options) => stream.tail(options), check: async () => undefined });
  const readers = [follow(through(), 0), follow(through(), 0)];
  await until(() => readers.every(({ got }) => got.length === 2));
  stream.fail(new Error('replaced'));
  for (const { done } of readers) await expect(done).rejects.toThrow('replaced');
  expect(stream.open).toBe(0);
});

it('refuses a position beyond the stream also where others follow it already', async () => {
  const stream = new Stream();
  const tail = joint(stream, undefined, async () => {
    throw new Error('ahead');
  });
  stream.append(2);
  const first = follow(tail, 0);
  await until(() => first.got.length === 2);
  await expect(follow(tail, 9).done).rejects.toThrow('ahead');
  await first.stop();
});

it('begins in a hurry where somebody waited before it had begun', async () => {
  let told = 0;
  const idle = async function* ({ pace }: TailOptions): AsyncGenerator<RawCommit[]> {
    await turn();
    pace?.onHurry?.(() => told++);
    yield [commit(1)];
  };
  const tail = over(new JointTail(), { tail: idle, check: async () => undefined });
  let hurry = (): void => undefined;
  const pace = { gatherMs: 10, onHurry: (tell: () => void) => ((hurry = tell), () => undefined) };
  const reader = tail.read({ after: 0, pace, signal: new AbortController().signal });
  const first = reader.next();
  hurry();
  expect((await first).value).toHaveLength(1);
  expect(told).toBe(1);
  await reader.return(undefined);
});
