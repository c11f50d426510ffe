import { subjectOf } from '@runyard/contracts';
import { EventStreamReader } from '../../e2e/event-stream-reader';
import { MemoryLog } from '../../e2e/memory-log';
import { parseCursor } from './cursor';
import { RunTail } from './run-tail.process';
import { StreamedCommit } from './streamed-commit';
import { Viewer } from './viewer';

const ORG = '11111111-1111-4111-8111-111111111111';
const RUN = subjectOf('runs', ORG, 'run_1');
const OTHER = subjectOf('runs', ORG, 'run_2');
const limits = { maxWaiting: 10_000, pingMs: 60_000, retryMs: 500 };
const quiet = { info: () => undefined, warn: () => undefined };
const model = (n: number) => ({ type: 'ModelCallStarted', data: { step: n } });
const end = { type: 'RunSucceeded', data: { output: { text: 'done' } } };

async function open(log: MemoryLog, tail: RunTail, after?: string, set: Partial<typeof limits> = {}) {
  const cursor = after === undefined ? undefined : parseCursor(after);
  const streamed = (list: Awaited<ReturnType<MemoryLog['read']>>) =>
    list.map((commit) => new StreamedCommit(commit, 'first'));
  const viewer = new Viewer(
    {
      about: { run_id: 'run_1' },
      subject: RUN,
      after: cursor,
      history: streamed(await log.read(RUN, cursor ? cursor.sequence - 1 : 0)),
      readAfter: async (sequence) => streamed(await log.read(RUN, sequence)),
    },
    tail,
    { ...limits, ...set },
  );
  viewer.on('error', () => undefined);
  return viewer;
}

/** Reads a viewer as a client does, until a condition holds or it ends. */
class Client {
  readonly reader = new EventStreamReader();
  readonly closed: Promise<void>;
  private wake: () => void = () => undefined;

  constructor(readonly viewer: Viewer) {
    viewer.on('data', (chunk: Buffer) => {
      this.reader.feed(chunk);
      this.wake();
    });
    this.closed = new Promise((resolve) => viewer.once('close', resolve));
  }

  ids = () =>
    this.reader.events.filter((event) => event.event === 'agent-run-event').map((event) => event.id);
  has = (name: string) => this.reader.events.some((event) => event.event === name);

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => (this.wake = resolve));
  }
}

describe('a viewer of a run', () => {
  let log: MemoryLog;
  let tail: RunTail;
  beforeEach(() => {
    log = new MemoryLog();
    tail = new RunTail(log, quiet);
  });
  afterEach(() => tail.stop());

  test('is shown history, then live events, then the end, and is closed', async () => {
    log.append(RUN, model(1), model(2));
    log.append(OTHER, model(9));
    const client = new Client(await open(log, tail));
    await client.until(() => client.has('caught-up'));
    expect(client.ids()).toEqual(['first.1.0', 'first.1.1']);
    log.append(RUN, model(3));
    log.append(OTHER, end);
    log.append(RUN, end);
    await client.closed;
    expect(client.ids()).toEqual(['first.1.0', 'first.1.1', 'first.3.0', 'first.5.0']);
    expect(client.reader.events.at(-1)).toMatchObject({ event: 'end', id: 'first.5.0' });
    expect(client.reader.retry).toBe(500);
    expect(tail.size).toBe(0);
  });

  test('misses nothing and sees nothing twice when commits arrive in every gap of the hand-over', async () => {
    log.append(RUN, model(1));
    let reads = 0;
    log.onRead = () => {
      if (++reads <= 2) for (let n = 0; n < 3; n++) log.append(RUN, model(n));
    };
    const viewer = await open(log, tail);
    log.append(RUN, model(5));
    const client = new Client(viewer);
    await client.until(() => client.has('caught-up'));
    log.append(RUN, end);
    await client.closed;
    expect(client.ids()).toEqual(log.commits.map((commit) => `first.${commit.sequence}.0`));
  });

  test('resumes behind its cursor, also in the middle of a commit', async () => {
    log.append(RUN, model(1), model(2), model(3));
    log.append(RUN, end);
    const client = new Client(await open(log, tail, 'first.1.1'));
    await client.closed;
    expect(client.ids()).toEqual(['first.1.2', 'first.2.0']);
  });

  test('of an ended run never joins the tail', async () => {
    log.append(RUN, end);
    const client = new Client(await open(log, tail));
    await client.closed;
    expect(client.has('end')).toBe(true);
    expect(log.openTails).toBe(0);
  });

  test('that does not read is cut off when too much waits, and the run goes on', async () => {
    const viewer = await open(log, tail, undefined, { maxWaiting: 2_000 });
    const closed = new Promise<void>((resolve) => viewer.once('close', resolve));
    viewer.read(0);
    const other = new Client(await open(log, tail, undefined, { maxWaiting: 1_000_000 }));
    await other.until(() => other.has('caught-up'));
    for (let n = 0; n < 400; n++)
      log.append(RUN, { type: 'ModelCallStarted', data: { text: 'x'.repeat(100) } });
    await closed;
    log.append(RUN, end);
    await other.closed;
    expect(other.ids()).toHaveLength(401);
    expect(tail.size).toBe(0);
  });

  test('is dismissed without an end frame when the tail breaks, and comes back with its cursor', async () => {
    log.append(RUN, model(1));
    const client = new Client(await open(log, tail));
    await client.until(() => client.has('caught-up'));
    log.breakTails();
    await client.closed;
    expect(client.has('end')).toBe(false);
    log.append(RUN, end);
    const again = new Client(await open(log, tail, client.ids().at(-1)));
    await again.closed;
    expect(again.ids()).toEqual(['first.2.0']);
  });

  test('C49 whenever it leaves, its subscription goes (nestjs/nest#17352)', async () => {
    const never = await open(log, tail);
    never.destroy();
    const early = await open(log, tail);
    early.read(0);
    early.destroy();
    const late = new Client(await open(log, tail));
    await late.until(() => late.has('caught-up'));
    expect(tail.size).toBe(1);
    late.viewer.destroy();
    await late.closed;
    expect(tail.size).toBe(0);
  });

  test('is pinged while nothing happens', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
    try {
      const client = new Client(await open(log, tail, undefined, { pingMs: 15_000 }));
      await client.until(() => client.has('caught-up'));
      jest.advanceTimersByTime(31_000);
      await client.until(() => client.reader.comments.length === 2);
      expect(client.reader.comments).toEqual(['ping', 'ping']);
      client.viewer.destroy();
    } finally {
      jest.useRealTimers();
    }
  });
});

describe('the tail of RUNS', () => {
  test('is opened once for all viewers and closed some time after the last one left', async () => {
    const log = new MemoryLog();
    const tail = new RunTail(log, quiet, 0);
    const first = new Client(await open(log, tail));
    const second = new Client(await open(log, tail));
    await first.until(() => first.has('caught-up'));
    await second.until(() => second.has('caught-up'));
    expect(log.openTails).toBe(1);
    first.viewer.destroy();
    second.viewer.destroy();
    while (log.openTails > 0) await new Promise((resolve) => setImmediate(resolve));
    expect(tail.size).toBe(0);
  });

  test('that cannot start refuses its subscribers and keeps none', async () => {
    const log = new MemoryLog();
    const tail = new RunTail(
      { state: () => Promise.reject(new Error('no log')), tail: log.tail.bind(log) },
      quiet,
    );
    await expect(tail.subscribe(RUN, { onCommit: () => undefined, onLost: () => undefined })).rejects.toThrow(
      'no log',
    );
    expect(tail.size).toBe(0);
  });
});
