import { MAX_COMMIT_BYTES, subjectOf } from '@runyard/contracts';
import type { TestNats } from '@runyard/testing';
import { startNats } from '@runyard/testing';
import type { EventLogConnection } from './index';
import { CommitTooLarge, NOTHING_YET, VersionConflict, connectEventLog } from './index';

jest.setTimeout(60_000);

const meta = { actor: 'system:test', source: 'test' } as const;
const one = (data: unknown = {}) => [{ type: 'RunPauseRequested', data }];

let nats: TestNats;
let a: EventLogConnection;
let b: EventLogConnection;
beforeAll(async () => {
  nats = await startNats();
  a = await connectEventLog({ servers: nats.url, name: 'a' });
  b = await connectEventLog({ servers: nats.url, name: 'b' });
});
afterAll(async () => {
  await a?.close();
  await b?.close();
  await nats?.[Symbol.asyncDispose]();
});

describe('append', () => {
  it('stores a commit as one CloudEvents batch and reads it back', async () => {
    const subject = subjectOf('runs', 'acme', 'r1');
    const appended = await a.log.append({ subject, expected: NOTHING_YET, events: [...one({ n: 1 }), ...one({ n: 2 })], meta });
    const [commit] = await a.log.read(subject);
    expect(commit).toMatchObject({ stream: 'RUNS', subject, sequence: appended.sequence, commitId: appended.commitId });
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

  it('lets exactly one of two writers win, 200 times', async () => {
    const subject = subjectOf('runs', 'acme', 'race');
    let expected: number = NOTHING_YET;
    for (let round = 0; round < 200; round++) {
      const results = await Promise.allSettled(
        [a, b].map(({ log }) => log.append({ subject, expected, events: one({ round }), meta })),
      );
      const won = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
      const lost = results.flatMap((result) => (result.status === 'rejected' ? [result.reason as unknown] : []));
      expect(won).toHaveLength(1);
      expect(lost[0]).toBeInstanceOf(VersionConflict);
      expect(lost[0]).toMatchObject({ expected, actual: won[0]?.sequence });
      expected = won[0]?.sequence ?? 0;
    }
    expect(await a.log.read(subject)).toHaveLength(200);
  });

  it('refuses an oversize commit before it is sent', async () => {
    const append = a.log.append({
      subject: subjectOf('runs', 'acme', 'big'),
      expected: NOTHING_YET,
      events: one('x'.repeat(MAX_COMMIT_BYTES)),
      meta,
    });
    await expect(append).rejects.toThrow(CommitTooLarge);
  });

  it('never dates an event before the aggregate’s last one', async () => {
    const notBefore = Date.now() + 60_000;
    const appended = await a.log.append({ subject: subjectOf('runs', 'acme', 'late'), expected: NOTHING_YET, events: one(), meta, notBefore });
    expect(appended.time).toBe(notBefore);
  });
});

describe('queues', () => {
  it('hands a message to its handler once', async () => {
    const seen: unknown[] = [];
    const consumer = await a.queues.consume({
      queue: 'WORK',
      durable: 'test',
      concurrency: 2,
      handler: async (message) => void seen.push(JSON.parse(Buffer.from(message.body).toString())),
    });
    await b.queues.publish('runyard.work.1.acme.r1', { n: 1 });
    await b.queues.publish('runyard.work.1.acme.r1', { n: 2 });
    const until = Date.now() + 3000;
    while (seen.length < 2 && Date.now() < until) await new Promise((r) => setTimeout(r, 5));
    await consumer.stop();
    expect(seen).toEqual([{ n: 1 }, { n: 2 }]);
  });
});
