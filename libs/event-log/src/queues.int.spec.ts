import { setTimeout as wait } from 'node:timers/promises';
import { createInbox } from '@nats-io/transport-node';
import { DEAD_STREAM, requestSubject, subjectOf, workSubject } from '@runyard/contracts';
import type { FaultyProxy, TestNats } from '@runyard/testing';
import { eventually, faultyProxy, startNats } from '@runyard/testing';
import type {
  DeadLetters,
  EventLogConnection,
  Notice,
  QueueConsumer,
  QueueConsumerOptions,
  QueueMessage,
} from './index';
import {
  OverlappingConsumer,
  Poison,
  RetryLater,
  VersionConflict,
  connectEventLog,
  deadLetters,
  delayAfter,
} from './index';

jest.setTimeout(120_000);

let nats: TestNats;
let proxy: FaultyProxy;
let a: EventLogConnection;
let b: EventLogConnection;
let shaky: EventLogConnection;
let dead: DeadLetters;
const notices: Notice[] = [];
const consumers: QueueConsumer[] = [];

beforeAll(async () => {
  nats = await startNats();
  proxy = await faultyProxy(nats.port);
  a = await connectEventLog({ servers: nats.url, name: 'a', onNotice: (notice) => notices.push(notice) });
  b = await connectEventLog({ servers: nats.url, name: 'b' });
  shaky = await connectEventLog({ servers: proxy.url, name: 'shaky' });
  dead = deadLetters(b.connection);
});
afterEach(async () => {
  proxy.heal();
  await Promise.all(consumers.splice(0).map((consumer) => consumer.stop()));
  for (const queue of ['WORK', 'REQUESTS', DEAD_STREAM]) await api(`STREAM.PURGE.${queue}`);
  for (const queue of ['WORK', 'REQUESTS']) await api(`CONSUMER.DELETE.${queue}.worker`);
});
afterAll(async () => {
  dead?.close();
  await Promise.all([a, b, shaky].map((one) => one?.close()));
  await proxy?.[Symbol.asyncDispose]();
  await nats?.[Symbol.asyncDispose]();
});

async function api<T>(subject: string, body: unknown = {}): Promise<T> {
  return (await b.connection.request(`$JS.API.${subject}`, JSON.stringify(body))).json<T>();
}
const messagesIn = async (queue: string) =>
  (await api<{ state: { messages: number } }>(`STREAM.INFO.${queue}`)).state.messages;

async function consume(
  on: EventLogConnection,
  options: Partial<QueueConsumerOptions> & Pick<QueueConsumerOptions, 'handler'>,
) {
  const consumer = await on.queues.consume({ queue: 'WORK', durable: 'worker', concurrency: 4, ...options });
  consumers.push(consumer);
  return consumer;
}
/** A worker that takes a message and dies. */
async function takeAndDie() {
  const inbox = b.connection.subscribe(createInbox(), { max: 1 });
  const pull = JSON.stringify({ batch: 1, expires: 5_000_000_000 });
  b.connection.publish('$JS.API.CONSUMER.MSG.NEXT.WORK.worker', pull, { reply: inbox.getSubject() });
  for await (const _message of inbox) return;
}
const publish = (n: number, on = b) => on.queues.publish(workSubject('acme', `r${n}`), { n });
const numberOf = (message: QueueMessage) =>
  (JSON.parse(Buffer.from(message.body).toString()) as { n: number }).n;

describe('a work queue', () => {
  it('hands every message to one worker and empties', async () => {
    const seen: number[] = [];
    for (const on of [a, b])
      await consume(on, { handler: async (message) => void seen.push(numberOf(message)) });
    await Promise.all(Array.from({ length: 300 }, (_, n) => publish(n)));
    await eventually(() => seen.length >= 300);
    expect(new Set(seen).size).toBe(300);
    expect(await eventually(async () => (await messagesIn('WORK')) === 0)).toBe(true);
  });

  it('works on at most `concurrency` messages side by side', async () => {
    let now = 0;
    let most = 0;
    let done = 0;
    await consume(a, {
      concurrency: 3,
      async handler() {
        most = Math.max(most, ++now);
        await wait(5);
        now--;
        done++;
      },
    });
    await Promise.all(Array.from({ length: 40 }, (_, n) => publish(n)));
    await eventually(() => done === 40);
    expect(most).toBe(3);
  });

  it('hands a message over again after the delay that the handler asked for, without counting it as a failure', async () => {
    const times: number[] = [];
    const attempts: number[] = [];
    await consume(a, {
      maxAttempts: 2,
      async handler(message) {
        times.push(performance.now());
        attempts.push(message.attempt);
        if (times.length < 6) throw new RetryLater(100, 'the slot is taken');
      },
    });
    await publish(1);
    await eventually(async () => times.length === 6 && (await messagesIn('WORK')) === 0);
    expect(attempts).toEqual([1, 1, 1, 1, 1, 1]);
    expect((times[5] ?? 0) - (times[0] ?? 0)).toBeGreaterThanOrEqual(495);
    expect(await dead.list()).toEqual([]);
  });

  it('gives back what it has not started when it stops, and finishes what it has', async () => {
    const byA: number[] = [];
    const byB: number[] = [];
    let release: () => void = () => undefined;
    const gate = new Promise<void>((resolve) => (release = resolve));
    const first = await consume(a, {
      concurrency: 2,
      async handler(message) {
        if (numberOf(message) > 1) throw new RetryLater(60_000, 'later');
        await gate;
        byA.push(numberOf(message));
      },
    });
    await Promise.all([0, 1].map((n) => publish(n)));
    await wait(50);
    const stopping = first.stop();
    await Promise.all([2, 3, 4].map((n) => publish(n)));
    await consume(b, { handler: async (message) => void byB.push(numberOf(message)) });
    await eventually(() => byB.length === 3);
    release();
    await stopping;
    expect(new Set(byA)).toEqual(new Set([0, 1]));
    expect(new Set(byB)).toEqual(new Set([2, 3, 4]));
    expect(await eventually(async () => (await messagesIn('WORK')) === 0)).toBe(true);
  });

  it('gives parked messages back at once when it stops', async () => {
    let parked = 0;
    const first = await consume(a, {
      async handler() {
        parked++;
        throw new RetryLater(60_000, 'later');
      },
    });
    await publish(1);
    await eventually(() => parked === 1);
    await first.stop();
    let seen = 0;
    await consume(b, { handler: async () => void seen++ });
    await eventually(() => seen === 1);
  });

  it('refuses a message that is larger than a dead letter could hold', async () => {
    await expect(b.queues.publish(requestSubject('acme'), 'x'.repeat(1024 * 1024))).rejects.toMatchObject({
      code: 'payload_too_large',
    });
  });
});

describe('C73 the right to work is the claim in the log, a delivery only wakes (nats-io/nats.java#1042)', () => {
  it('runs every step once although a worker is cut off for longer than the ack wait', async () => {
    const executed = new Map<number, number>();
    let deliveries = 0;
    const handler = (on: EventLogConnection) => async (message: QueueMessage) => {
      deliveries++;
      const n = numberOf(message);
      const claim = { type: 'RunStarted', data: { epoch: 1, instance: 'x' } };
      const meta = { actor: 'system:test', source: 'test' } as const;
      try {
        await on.log.append({
          subject: subjectOf('runs', 'acme', `claim${n}`),
          expected: 0,
          events: [claim],
          meta,
        });
      } catch (error) {
        if (error instanceof VersionConflict) return; // already owned or done
        throw error;
      }
      executed.set(n, (executed.get(n) ?? 0) + 1);
      await wait(20);
    };
    await consume(shaky, { concurrency: 10, ackWaitMs: 300, handler: handler(shaky) });
    await consume(a, { concurrency: 10, ackWaitMs: 300, handler: handler(a) });
    let stop = false;
    const faults = (async () => {
      while (!stop) {
        proxy.stall();
        await wait(500);
        proxy.heal();
        await wait(100);
      }
    })();
    for (let n = 0; n < 100; n++) {
      await publish(n);
      await wait(20);
    }
    await eventually(async () => (await messagesIn('WORK')) === 0);
    stop = true;
    await faults;
    expect(executed.size).toBe(100);
    expect([...executed.values()].every((times) => times === 1)).toBe(true);
    expect(deliveries).toBeGreaterThan(100);
  });

  it('repeats a lost acknowledgement instead of the work', async () => {
    const attempts: number[] = [];
    await consume(shaky, {
      ackWaitMs: 20_000,
      async handler(message) {
        attempts.push(message.attempt);
        proxy.lose('toServer');
        setTimeout(() => proxy.heal(), 700);
      },
    });
    await publish(1);
    await eventually(async () => attempts.length > 0 && (await messagesIn('WORK')) === 0, {
      withinMs: 18_000,
    });
    expect(attempts).toEqual([1]);
  });
});

describe('C74 a consumer is never silently deaf (nats-io/nats.node#590)', () => {
  const seen = new Set<number>();
  let next = 0;
  const batch = async (on = b) => {
    const numbers = Array.from({ length: 100 }, () => next++);
    await Promise.all(numbers.map((n) => publish(n, on)));
    await eventually(() => numbers.every((n) => seen.has(n)), { withinMs: 30_000 });
  };
  const start = () => consume(a, { handler: async (message) => void seen.add(numberOf(message)) });

  it('after an orderly restart of the server, with a pull parked', async () => {
    await start();
    await batch();
    await nats.stop();
    await wait(1_500);
    await nats.restart();
    await batch();
  });

  it('after a kill -9 of the server', async () => {
    await start();
    await nats.kill();
    await nats.restart();
    await batch();
  });

  it('after the server stood still for longer than its silence is borne', async () => {
    const consumer = await start();
    await nats.pause();
    await eventually(() => consumer.lastSeenMs() > 4_000, { withinMs: 40_000 });
    await wait(10_000);
    nats.resume();
    await batch();
    expect(consumer.lastSeenMs()).toBeLessThan(10_000);
  });

  it('after its durable consumer was deleted, and deleted and made again by somebody else', async () => {
    const consumer = await start();
    await api('CONSUMER.DELETE.WORK.worker');
    await batch();
    const { config } = await api<{ config: object }>('CONSUMER.INFO.WORK.worker');
    await api('CONSUMER.DELETE.WORK.worker');
    await api('CONSUMER.CREATE.WORK.worker', { stream_name: 'WORK', config });
    await batch();
    expect(notices.some((notice) => notice.kind === 'consumer_recreated')).toBe(true);
    expect(consumer.lastSeenMs()).toBeLessThan(10_000);
  });
});

describe('C75 a message id belongs to one publication (alexfrmn/murmur#141)', () => {
  it('a: delivers the same wake again and again, inside the duplicate window', async () => {
    const seen: string[] = [];
    await consume(a, { handler: async (message) => void seen.push(message.headers['Nats-Msg-Id'] ?? '') });
    for (let i = 0; i < 5; i++) await publish(1);
    await eventually(() => seen.length === 5);
    expect(new Set(seen).size).toBe(5);
  });

  it('b: stores once what is resent after a lost acknowledgement, and handles it once', async () => {
    proxy.lose('toClient');
    const publishing = publish(1, shaky);
    await eventually(async () => (await messagesIn('WORK')) === 1);
    proxy.heal();
    proxy.cut();
    await publishing;
    expect(await messagesIn('WORK')).toBe(1);
    let handled = 0;
    await consume(a, { handler: async () => void handled++ });
    await eventually(async () => (await messagesIn('WORK')) === 0);
    expect(handled).toBe(1);
  });

  it('c: takes no id from the caller, so that an empty or repeated one swallows nothing', async () => {
    const subject = workSubject('acme', 'r1');
    await b.queues.publish(subject, { n: 1 }, { 'Nats-Msg-Id': '' });
    await b.queues.publish(subject, { n: 2 }, { 'Nats-Msg-Id': '' });
    await b.queues.publish(subject, { n: 3 }, { 'Nats-Msg-Id': 'x' });
    await b.queues.publish(subject, { n: 4 }, { 'Nats-Msg-Id': 'x' });
    expect(await messagesIn('WORK')).toBe(4);
  });
});

describe('C77 every message ends handled or dead-lettered, never both, never neither (hmchangw/newchat#346)', () => {
  it('a: outlives a dependency that is down for three seconds, with growing delays', async () => {
    const times: number[] = [];
    let handled = 0;
    const upAt = performance.now() + 3_000;
    await consume(a, {
      async handler() {
        times.push(performance.now());
        if (performance.now() < upAt) throw new Error('connection refused');
        handled++;
      },
    });
    await publish(1);
    await eventually(() => handled === 1);
    const gaps = times.slice(1).map((time, index) => time - (times[index] ?? 0));
    expect(times.length).toBeLessThanOrEqual(6);
    // Never sooner than was asked for, and each time that is longer; later is the machine's affair.
    expect(gaps.map((gap, index) => gap >= delayAfter(index + 1) * 0.95)).toEqual(gaps.map(() => true));
    expect(await dead.list()).toEqual([]);
  });

  it('b: dead-letters poison at once, with where it came from and why', async () => {
    const bodies = ['{"type":', '', '{"type":"unknown"}', '['.repeat(400_000)];
    const onDead: string[] = [];
    let calls = 0;
    await consume(a, {
      queue: 'REQUESTS',
      async handler(message) {
        calls++;
        try {
          const body = JSON.parse(Buffer.from(message.body).toString()) as { type?: string };
          if (body.type !== 'known') throw new Error(`unknown type\r\n"${body.type}"`);
        } catch (error) {
          throw new Poison((error as Error).message);
        }
      },
      onDead: async (_message, reason) => void onDead.push(reason),
    });
    for (const body of bodies) await b.connection.request(requestSubject('acme'), body);
    const letters = await eventually(async () => {
      const list = await dead.list();
      return list.length === bodies.length && list;
    });
    expect(calls).toBe(bodies.length);
    expect(letters.map((letter) => Buffer.from(letter.body).toString())).toEqual(bodies);
    expect(letters.map((letter) => letter.reason)).toEqual(onDead);
    expect(letters[2]).toMatchObject({
      stream: 'REQUESTS',
      consumer: 'worker',
      subject: requestSubject('acme'),
      attempts: 1,
      reason: 'unknown type\r\n"unknown"',
    });
    expect(letters[2]?.lastAt).toBeGreaterThanOrEqual(letters[2]?.firstAt ?? Infinity);
    expect(await eventually(async () => (await messagesIn('REQUESTS')) === 0)).toBe(true);
  });

  it('c: counts a handler that hangs as a failed attempt and dead-letters it in the end', async () => {
    let calls = 0;
    await consume(a, {
      maxAttempts: 3,
      handlerLimitMs: 100,
      handler() {
        calls++;
        return new Promise(() => undefined);
      },
    });
    await publish(1);
    const [letter] = await eventually(async () => {
      const list = await dead.list();
      return list.length > 0 && list;
    });
    expect(calls).toBe(3);
    expect(letter).toMatchObject({ attempts: 3, reason: expect.stringContaining('100 ms') as string });
    expect(await eventually(async () => (await messagesIn('WORK')) === 0)).toBe(true);
  });

  it('dead-letters a message that keeps losing its workers before a handler sees it again', async () => {
    await consume(a, { ackWaitMs: 300, handler: async () => undefined }).then((consumer) => consumer.stop());
    await publish(1);
    for (let i = 0; i < 2; i++) await takeAndDie();
    let calls = 0;
    await consume(a, { ackWaitMs: 300, maxAttempts: 2, handler: async () => void calls++ });
    const [letter] = await eventually(async () => {
      const list = await dead.list();
      return list.length > 0 && list;
    });
    expect(letter).toMatchObject({ attempts: 3 });
    expect(calls).toBe(0);
  });

  it('keeps the message until its owner’s fence holds, then dead-letters it once', async () => {
    let fences = 0;
    await consume(a, {
      handler: async () => Promise.reject(new Poison('no')),
      async onDead() {
        if (++fences < 3) throw new Error('the log is away');
      },
    });
    await publish(1);
    await eventually(async () => (await dead.list()).length === 1);
    expect(fences).toBe(3);
    expect(await eventually(async () => (await messagesIn('WORK')) === 0)).toBe(true);
    expect(await dead.list()).toHaveLength(1);
  });

  it('lets an operator list, retry and drop dead letters', async () => {
    let poison = true;
    const handled: QueueMessage[] = [];
    await consume(a, {
      async handler(message) {
        if (poison) throw new Poison('not yet');
        handled.push(message);
      },
    });
    await b.queues.publish(workSubject('acme', 'r1'), { n: 1 }, { 'Runyard-Reply': '_INBOX.x' });
    await publish(2);
    await eventually(async () => (await dead.list()).length === 2);
    const [one, two] = await dead.list();
    expect(await dead.list({ after: one?.sequence, limit: 5 })).toHaveLength(1);
    poison = false;
    await dead.retry(one?.sequence ?? 0);
    await dead.drop(two?.sequence ?? 0);
    await eventually(() => handled.length === 1);
    expect(handled[0]).toMatchObject({ subject: workSubject('acme', 'r1'), attempt: 1 });
    expect(handled[0]?.headers['Runyard-Reply']).toBe('_INBOX.x');
    expect(await dead.list()).toEqual([]);
    await expect(dead.retry(one?.sequence ?? 0)).rejects.toMatchObject({ code: 'not_found' });
    await expect(dead.drop(9_999)).rejects.toMatchObject({ code: 'not_found' });
  });
});

describe('C78 one durable consumer per purpose (nestjs/nest#13686)', () => {
  it.each([1, 2, 3])('hands 1,000 messages over once each with %i instances', async (instances) => {
    const seen: number[] = [];
    for (let i = 0; i < instances; i++)
      await consume(i % 2 ? a : b, {
        concurrency: 50,
        handler: async (message) => void seen.push(numberOf(message)),
      });
    await Promise.all(Array.from({ length: 1_000 }, (_, n) => publish(n)));
    await eventually(async () => (await messagesIn('WORK')) === 0);
    expect(seen).toHaveLength(1_000);
    expect(new Set(seen).size).toBe(1_000);
  });

  it('refuses a second purpose on the same subjects at its start', async () => {
    await consume(a, { handler: async () => undefined });
    await expect(consume(a, { durable: 'notifier', handler: async () => undefined })).rejects.toThrow(
      OverlappingConsumer,
    );
  });
});
