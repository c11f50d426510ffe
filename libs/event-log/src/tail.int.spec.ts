import { setTimeout as wait } from 'node:timers/promises';
import { subjectOf } from '@runyard/contracts';
import type { TestNats } from '@runyard/testing';
import { eventually, startNats } from '@runyard/testing';
import { streamDefinitions } from '../../../deploy/nats/streams';
import type { EventLogConnection, Notice, Pace, RawCommit } from './index';
import { CheckpointAhead, LogUnavailable, applyStreams, connectEventLog, streamSource } from './index';

jest.setTimeout(120_000);

const meta = { actor: 'system:test', source: 'test' } as const;

let nats: TestNats;
let a: EventLogConnection;
let b: EventLogConnection;
const notices: Notice[] = [];
const readers: AbortController[] = [];

beforeAll(async () => {
  nats = await startNats();
  a = await connectEventLog({ servers: nats.url, name: 'a' });
  b = await connectEventLog({ servers: nats.url, name: 'b', onNotice: (notice) => notices.push(notice) });
});
afterEach(async () => {
  readers.splice(0).forEach((reader) => reader.abort());
  // A consumer whose deletion a standing server did not hear is forgotten by the server itself.
  await eventually(async () => (await consumersOn('RUNS')) === 0, { withinMs: 60_000 });
});
afterAll(async () => {
  await a?.close();
  await b?.close();
  await nats?.[Symbol.asyncDispose]();
});

async function api<T extends object>(subject: string): Promise<T> {
  return eventually(async () => (await a.connection.request(`$JS.API.${subject}`, '{}')).json<T>());
}
const consumersOn = async (stream: string) =>
  (await api<{ state: { consumer_count: number } }>(`STREAM.INFO.${stream}`)).state.consumer_count;
const names = async () => (await api<{ consumers: string[] }>('CONSUMER.NAMES.RUNS')).consumers;

/** Collects a tail until it is told to stop; `failed` is what the tail threw. */
function follow(after: number, filter?: string, pace?: Pace) {
  const abort = new AbortController();
  readers.push(abort);
  const got: RawCommit[] = [];
  const state: { ended: boolean; failed?: unknown } = { ended: false };
  void (async () => {
    try {
      for await (const commit of b.log.tail('RUNS', { after, filter, pace, signal: abort.signal }))
        got.push(commit);
    } catch (error) {
      state.failed = error;
    }
    state.ended = true;
  })();
  return { got, state, abort, numbers: () => got.map(numberOf) };
}
const numberOf = (commit: RawCommit): number =>
  (JSON.parse(Buffer.from(commit.body).toString()) as [{ data: { n: number } }])[0].data.n;

let count = 0;
async function write(commits: number, org = 'acme') {
  const numbers: number[] = [];
  for (let i = 0; i < commits; i++) {
    const n = count++;
    await a.log.append({
      subject: subjectOf('runs', org, `r${n}`),
      expected: 0,
      events: [{ type: 'RunPauseRequested', data: { n } }],
      meta,
    });
    numbers.push(n);
  }
  return numbers;
}

describe.each([
  ['as commits are stored', undefined],
  ['when they have gathered', { gatherMs: 20 }],
] satisfies [string, Pace | undefined][])('tail, %s', (_name, pace) => {
  it('gives every commit after a checkpoint, in order, then what comes', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    const before = await write(1_000);
    const tail = follow(lastSequence, undefined, pace);
    const later = await write(50);
    await eventually(() => tail.got.length >= 1_050);
    expect(tail.numbers()).toEqual([...before, ...later]);
    const second = follow(tail.got[989]?.sequence ?? 0, undefined, pace);
    await eventually(() => second.got.length === 60);
    expect(second.got[0]).toEqual({ ...tail.got[990], body: expect.anything() as unknown });
  });

  it('ends when its reader aborts, also in the middle of a batch', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    await write(300);
    const abort = new AbortController();
    let seen = 0;
    for await (const commit of b.log.tail('RUNS', { after: lastSequence, pace, signal: abort.signal })) {
      seen++;
      if (commit.sequence === lastSequence + 10) abort.abort();
      if (seen > 300) break;
    }
    const idle = follow(lastSequence + 300, undefined, pace);
    await eventually(async () => (await consumersOn('RUNS')) > 0);
    idle.abort.abort();
    await eventually(() => idle.state.ended);
    expect(idle.state.failed).toBeUndefined();
  });

  it('gives one tenant’s commits only, by subject pattern', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    const tail = follow(lastSequence, 'runyard.runs.*.globex.*', pace);
    await write(20, 'acme');
    const wanted = await write(20, 'globex');
    await eventually(() => tail.got.length >= 20);
    expect(tail.numbers()).toEqual(wanted);
  });

  it('is exact over orderly restarts, kill -9 and deleted consumers', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    const tail = follow(lastSequence, undefined, pace);
    const writing = write(1_500);
    const progress = async () => {
      const before = tail.got.length;
      await eventually(() => tail.got.length > before + 30 || tail.got.length === 1_500);
    };
    for (const fault of ['kill', 'stop', 'kill', 'delete', 'delete', 'kill'] as const) {
      await progress();
      if (fault === 'delete') for (const name of await names()) await api(`CONSUMER.DELETE.RUNS.${name}`);
      else {
        await nats[fault]();
        await nats.restart();
      }
    }
    const numbers = await writing;
    await eventually(() => tail.got.length >= 1_500);
    expect(tail.numbers()).toEqual(numbers);
    expect(notices.filter((notice) => notice.kind === 'tail_resumed').length).toBeGreaterThanOrEqual(4);
  });

  it('goes on after the server stood still', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    const tail = follow(lastSequence, undefined, pace);
    const first = await write(10);
    await eventually(() => tail.got.length === 10);
    await nats.pause();
    await wait(13_000); // longer than the client bears silence
    nats.resume();
    const second = await write(10);
    await eventually(() => tail.got.length >= 20);
    expect(tail.numbers()).toEqual([...first, ...second]);
  });

  it('does not run ahead of a slow reader, and survives the server forgetting it', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    await write(600);
    const abort = new AbortController();
    readers.push(abort);
    const got: number[] = [];
    for await (const batch of b.log.tailBatches('RUNS', {
      after: lastSequence,
      pace,
      signal: abort.signal,
    })) {
      got.push(...batch.map((commit) => commit.sequence));
      expect(batch.length).toBeLessThanOrEqual(512);
      if (got.length >= 600) break;
      for (const name of await names()) await api(`CONSUMER.DELETE.RUNS.${name}`);
    }
    expect(got).toEqual(Array.from({ length: 600 }, (_, i) => lastSequence + 1 + i));
  });
});

it('fetches at once what somebody waits for', async () => {
  const { lastSequence } = await a.log.state('RUNS');
  const hurries = new Set<() => void>();
  const pace: Pace = {
    gatherMs: 60_000,
    onHurry: (hurry) => (hurries.add(hurry), () => void hurries.delete(hurry)),
  };
  const tail = follow(lastSequence, undefined, pace);
  const numbers = await write(3);
  await eventually(() => hurries.size > 0);
  hurries.forEach((hurry) => hurry());
  await eventually(() => tail.got.length === 3);
  expect(tail.numbers()).toEqual(numbers);
  tail.abort.abort();
  await eventually(() => hurries.size === 0);
});

it('ends with LogUnavailable when its connection is closed under it', async () => {
  const doomed = await connectEventLog({ servers: nats.url, name: 'doomed' });
  const tail = (async () => {
    for await (const _commit of doomed.log.tail('PEOPLE', { after: 0, signal: new AbortController().signal }))
      continue;
  })();
  const outcome = tail.catch((error: unknown) => error);
  await eventually(async () => (await consumersOn('PEOPLE')) === 1);
  await doomed.close();
  expect(await outcome).toBeInstanceOf(LogUnavailable);
  await expect(doomed.log.state('PEOPLE')).rejects.toThrow(LogUnavailable);
});

describe('alarms', () => {
  it('stops where a checkpoint is ahead of the stream', async () => {
    const { lastSequence } = await a.log.state('RUNS');
    const tail = follow(lastSequence + 1);
    await eventually(() => tail.state.ended);
    expect(tail.state.failed).toBeInstanceOf(CheckpointAhead);
    expect(tail.state.failed).toMatchObject({ checkpoint: lastSequence + 1, state: { lastSequence } });
  });

  it('stops where the stream was created anew, even if it has grown past the checkpoint, and tells by the incarnation', async () => {
    const before = await a.log.state('AGENTS');
    const abort = new AbortController();
    readers.push(abort);
    const append = (id: string) =>
      a.log.append({
        subject: subjectOf('agents', 'acme', id),
        expected: 0,
        events: [{ type: 'AgentLocked', data: { reason: null } }],
        meta,
      });
    await append('one');
    const outcome: { failed?: unknown; seen: number } = { seen: 0 };
    void (async () => {
      try {
        for await (const _commit of b.log.tail('AGENTS', { after: 0, signal: abort.signal })) outcome.seen++;
      } catch (error) {
        outcome.failed = error;
      }
    })();
    await eventually(() => outcome.seen === 1);
    await api('STREAM.DELETE.AGENTS');
    await applyStreams(a.connection, streamDefinitions());
    for (const id of ['one', 'two', 'three']) await append(id);
    await eventually(() => outcome.failed);
    expect(outcome.failed).toBeInstanceOf(CheckpointAhead);
    expect(outcome.seen).toBe(1);
    const after = await a.log.state('AGENTS');
    expect(after.incarnation).not.toBe(before.incarnation);
    await applyStreams(a.connection, streamDefinitions());
    expect(await a.log.state('AGENTS')).toEqual(after);
  });
});

describe('consumers', () => {
  it('leaves none behind: not by long reads, ended tails or conflicts', async () => {
    const subject = subjectOf('runs', 'acme', 'leak');
    let expected = 0;
    for (let n = 0; n < 60; n++)
      expected = (
        await a.log.append({ subject, expected, events: [{ type: 'RunPauseRequested', data: { n } }], meta })
      ).sequence;
    await Promise.all(Array.from({ length: 60 }, () => b.log.read(subject)));
    for (let i = 0; i < 10; i++) {
      const tail = follow(0);
      await eventually(() => tail.got.length > 10);
      tail.abort.abort();
    }
    await eventually(async () => (await consumersOn('RUNS')) === 0, { withinMs: 20_000 });
  });
});

describe('onAppend', () => {
  it('wakes for an aggregate and for a pattern, until it is released', async () => {
    const subject = subjectOf('runs', 'acme', 'woken');
    const woken: string[] = [];
    const release = b.log.onAppend(subject, (by) => woken.push(by));
    const releasePattern = b.log.onAppend('runyard.runs.*.acme.*', (by) => woken.push(by));
    await b.connection.flush();
    const { sequence } = await a.log.append({
      subject,
      expected: 0,
      events: [{ type: 'RunPauseRequested', data: {} }],
      meta,
    });
    await eventually(() => woken.length === 2);
    expect(woken).toEqual([subject, subject]);
    release();
    releasePattern();
    await a.log.append({
      subject,
      expected: sequence,
      events: [{ type: 'RunPauseRequested', data: {} }],
      meta,
    });
    await b.connection.flush();
    expect(woken).toHaveLength(2);
  });

  it('wakes an aggregate’s reader after a reconnect, when something may have been missed', async () => {
    const subject = subjectOf('runs', 'acme', 'missed');
    let woken = 0;
    const release = b.log.onAppend(subject, () => woken++);
    await nats.kill();
    await nats.restart();
    await eventually(() => woken > 0);
    release();
  });

  it.each(['runyard.runs.0.acme.r1', '>', 'runyard.runs.>.x', 'runyard.runs.a b', 'runyard.dead\r\n', ''])(
    'refuses the pattern %j',
    (pattern) => {
      expect(() => b.log.onAppend(pattern, () => undefined)).toThrow(TypeError);
    },
  );
});

it('serves as a projection’s source', async () => {
  const source = streamSource(b.log, 'RUNS');
  const { lastSequence } = await source.state();
  await write(1);
  const abort = new AbortController();
  for await (const commit of source.read(lastSequence, abort.signal)) {
    expect(commit.sequence).toBe(lastSequence + 1);
    break;
  }
});
