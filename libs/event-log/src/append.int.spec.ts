import { randomUUID } from 'node:crypto';
import { MAX_COMMIT_BYTES, subjectOf } from '@runyard/contracts';
import type { FaultyProxy, TestNats } from '@runyard/testing';
import { eventually, faultyProxy, startNats } from '@runyard/testing';
import { streamDefinitions } from '../../../deploy/nats/streams';
import type { EventLogConnection, NewCommit } from './index';
import {
  CommitTooLarge,
  LogUnavailable,
  NOTHING_YET,
  VersionConflict,
  applyStreams,
  connectEventLog,
} from './index';

jest.setTimeout(120_000);

const meta = { actor: 'system:test', source: 'test' } as const;
const one = (data: unknown = {}) => [{ type: 'RunPauseRequested', data }];
const first = (id: string, more: Partial<NewCommit> = {}): NewCommit => ({
  subject: subjectOf('runs', 'acme', id),
  expected: NOTHING_YET,
  events: one(),
  meta,
  ...more,
});

let nats: TestNats;
let proxy: FaultyProxy;
let a: EventLogConnection;
let b: EventLogConnection;
/** Its connection loses what the test wants it to lose. */
let unlucky: EventLogConnection;
beforeAll(async () => {
  nats = await startNats();
  proxy = await faultyProxy(nats.port);
  a = await connectEventLog({ servers: nats.url, name: 'a' });
  b = await connectEventLog({ servers: nats.url, name: 'b' });
  unlucky = await connectEventLog({ servers: proxy.url, name: 'unlucky', tryMs: 400 });
});
afterAll(async () => {
  await Promise.all([a, b, unlucky].map((one) => one?.close()));
  await proxy?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

describe('append', () => {
  it('stores a commit as one CloudEvents batch', async () => {
    const appended = await a.log.append(first('r1', { events: [...one({ n: 1 }), ...one({ n: 2 })] }));
    const [commit] = await a.log.read(subjectOf('runs', 'acme', 'r1'));
    expect(commit).toMatchObject({
      stream: 'RUNS',
      sequence: appended.sequence,
      commitId: appended.commitId,
    });
    expect(commit?.events.map((event) => event.data)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(commit?.events[1]).toMatchObject({
      specversion: '1.0',
      id: `${appended.commitId}.1`,
      source: 'test',
      type: 'runyard.RunPauseRequested.v1',
      subject: 'r1',
      org: 'acme',
      actor: 'system:test',
      time: new Date(appended.time).toISOString(),
    });
  });

  it('keeps any text: NUL, lone surrogates, emoji and line breaks', async () => {
    const text = 'a\u0000b\ud800c\udc00d😀\r\nNATS/1.0 503\r\n\u2028';
    await a.log.append(first('text', { events: one({ text }) }));
    expect((await a.log.last(subjectOf('runs', 'acme', 'text')))?.events[0]?.data).toEqual({ text });
  });

  it('lets exactly one of two writers win, 200 times', async () => {
    let expected: number = NOTHING_YET;
    for (let round = 0; round < 200; round++) {
      const commit = first('race', { expected, events: one({ round }) });
      const results = await Promise.allSettled([a, b].map(({ log }) => log.append(commit)));
      const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const lost = results.flatMap((result) =>
        result.status === 'rejected' ? [result.reason as unknown] : [],
      );
      expect(won).toHaveLength(1);
      expect(lost[0]).toBeInstanceOf(VersionConflict);
      expect(lost[0]).toMatchObject({ expected, actual: won[0]?.sequence });
      expected = won[0]?.sequence ?? 0;
    }
    expect(await a.log.read(subjectOf('runs', 'acme', 'race'))).toHaveLength(200);
  });

  it('refuses an expectation of the future', async () => {
    await expect(a.log.append(first('future', { expected: 1_000_000 }))).rejects.toThrow(VersionConflict);
  });

  it('refuses an oversize commit before it is sent, and takes one at the limit', async () => {
    await expect(a.log.append(first('big', { events: one('x'.repeat(MAX_COMMIT_BYTES)) }))).rejects.toThrow(
      CommitTooLarge,
    );
    await expect(
      a.log.append(first('fits', { events: one('x'.repeat(MAX_COMMIT_BYTES - 500)) })),
    ).resolves.toBeDefined();
  });

  it('refuses what is no aggregate’s subject, and an empty commit', async () => {
    for (const subject of ['runyard.runs.>', 'runyard.runs.0.acme.*', 'runyard.work.1.acme.r1', 'x'])
      await expect(a.log.append(first('x', { subject }))).rejects.toThrow(TypeError);
    await expect(a.log.append(first('empty', { events: [] }))).rejects.toThrow(TypeError);
  });

  it('never dates an event before the aggregate’s last one (P1.3)', async () => {
    const notBefore = Date.now() + 60_000;
    expect((await a.log.append(first('late', { notBefore }))).time).toBe(notBefore);
  });
});

describe('lost acknowledgements (P1.2)', () => {
  /** Lets a commit be stored while its acknowledgement is lost; `after` runs before the writer learns of it. */
  async function loseAck(
    commit: NewCommit,
    after: (stored: number) => Promise<void> = async () => undefined,
  ) {
    proxy.lose('toClient');
    const appending = unlucky.log.append(commit);
    appending.catch(() => undefined);
    const stored = await eventually(async () => (await a.log.lastSequence(commit.subject)) || undefined);
    await after(stored);
    proxy.heal();
    proxy.cut();
    return { appended: await appending, stored };
  }

  it('resends with the same commit id and learns that it was stored', async () => {
    const { appended, stored } = await loseAck(first('lost'));
    expect(appended).toMatchObject({ sequence: stored, recovered: true });
    expect(await a.log.read(subjectOf('runs', 'acme', 'lost'))).toHaveLength(1);
  });

  it('finds its own commit below a control that came in between, with the duplicate window over', async () => {
    const short = streamDefinitions().map((definition) => ({ ...definition, duplicate_window: 100_000_000 }));
    await applyStreams(a.connection, short);
    const commit = first('control');
    const { appended, stored } = await loseAck(commit, async (sequence) => {
      await b.log.append({ ...commit, expected: sequence, events: one({ control: true }) });
      await new Promise((resolve) => setTimeout(resolve, 300)); // the duplicate window passes
    });
    await applyStreams(a.connection, streamDefinitions());
    expect(appended).toMatchObject({ sequence: stored, recovered: true });
    expect(await a.log.read(commit.subject)).toHaveLength(2);
  });

  it('knows a real loser even if its request was repeated', async () => {
    const commit = first('loser');
    proxy.lose('toServer');
    const appending = unlucky.log.append(commit);
    appending.catch(() => undefined);
    await eventually(() => proxy.lost > 0);
    const winner = await a.log.append({ ...commit, events: one({ winner: true }) });
    proxy.heal();
    proxy.cut();
    await expect(appending).rejects.toMatchObject({ actual: winner.sequence });
    expect(await a.log.read(commit.subject)).toHaveLength(1);
  });

  it('takes a commit that is appended again by its id for stored, and stores it once', async () => {
    const commit = first('again', { commitId: randomUUID() });
    const stored = await a.log.append(commit);
    const again = await b.log.append(commit);
    expect(again).toMatchObject({ sequence: stored.sequence, time: stored.time, recovered: true });
    expect(await a.log.read(commit.subject)).toHaveLength(1);
  });

  it('never takes another commit’s id for success', async () => {
    const commitId = randomUUID();
    await a.log.append(first('id-owner', { commitId }));
    await expect(a.log.append(first('id-thief', { commitId }))).rejects.toThrow(/used before/);
    expect(await a.log.lastSequence(subjectOf('runs', 'acme', 'id-thief'))).toBe(0);
  });

  it('says that the outcome is unknown when the log stays silent, and a repetition is safe', async () => {
    const quick = await connectEventLog({ servers: nats.url, name: 'quick', tryMs: 200, limitMs: 500 });
    const commit = first('down');
    await nats.pause();
    const error: unknown = await quick.log.append(commit).catch((reason: unknown) => reason);
    nats.resume();
    expect(error).toBeInstanceOf(LogUnavailable);
    const { commitId } = error as LogUnavailable;
    // Half a second may not be enough for a server that has just woken up; to say it again is what is safe.
    await eventually(() => quick.log.append({ ...commit, commitId }));
    expect(await quick.log.read(commit.subject)).toHaveLength(1);
    await quick.close();
  });

  it('closes in bounded time while the server is away', async () => {
    const left = await connectEventLog({ servers: nats.url, name: 'left' });
    await left.queues.consume({
      queue: 'WORK',
      durable: 'left',
      concurrency: 1,
      handler: async () => undefined,
    });
    await nats.kill();
    const closing = performance.now();
    await left.close();
    expect(performance.now() - closing).toBeLessThan(60_000);
    expect(left.connection.isClosed()).toBe(true);
    await nats.restart();
  });

  it('goes on over a kill -9 of the server without losing or doubling a commit', async () => {
    const subject = subjectOf('runs', 'acme', 'killed');
    const appending = (async () => {
      let expected: number = NOTHING_YET;
      for (let n = 0; n < 600; n++)
        expected = (await a.log.append({ subject, expected, events: one({ n }), meta })).sequence;
    })();
    for (let i = 0; i < 3; i++) {
      const before = await b.log.lastSequence(subject);
      await eventually(async () => (await b.log.lastSequence(subject)) > before + 20);
      await nats.kill();
      await nats.restart();
    }
    await appending;
    const numbers = (await a.log.read(subject)).map((commit) => commit.events[0]?.data);
    expect(numbers).toEqual(Array.from({ length: 600 }, (_, n) => ({ n })));
  });
});

describe('read', () => {
  it('gives whole histories of any length, and from any place on', async () => {
    const subject = subjectOf('runs', 'acme', 'long');
    const sequences: number[] = [];
    for (let n = 0; n < 700; n++) {
      const appended = await a.log.append({
        subject,
        expected: sequences.at(-1) ?? NOTHING_YET,
        events: one({ n }),
        meta,
      });
      sequences.push(appended.sequence);
      if (n % 7 === 0) await a.log.append(first(`other-${n}`));
    }
    for (const length of [0, 1, 5, 6, 7, 8, 300, 700]) {
      const after = sequences.at(-length - 1) ?? 0;
      const commits = await b.log.read(subject, length === 0 ? sequences.at(-1) : after);
      expect(commits.map((commit) => commit.sequence)).toEqual(length === 0 ? [] : sequences.slice(-length));
    }
    expect(await b.log.lastSequence(subject)).toBe(sequences.at(-1));
    expect((await b.log.last(subject))?.sequence).toBe(sequences.at(-1));
  });

  it('answers nothing for an aggregate that does not exist', async () => {
    const subject = subjectOf('agents', 'acme', 'nobody');
    expect(await a.log.read(subject)).toEqual([]);
    expect(await a.log.last(subject)).toBeUndefined();
    expect(await a.log.lastSequence(subject)).toBe(0);
  });
});
