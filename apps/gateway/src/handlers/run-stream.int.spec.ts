import { connect as connectSocket } from 'node:net';
import { EventSource } from 'eventsource';
import { Problem, subjectOf } from '@runyard/contracts';
import { runIdOf } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { EventStreamReader, readEventStream } from '../../e2e/event-stream-reader';
import type { ReadEvent } from '../../e2e/event-stream-reader';
import { fakeIntake, runEvents } from '../../e2e/fake-intake';
import type { Actor } from '../../e2e/fake-services';
import { startHarness } from '../../e2e/harness';
import type { Harness } from '../../e2e/harness';
import { RunStreams } from '../stream/run-streams';
import { RunTail } from '../stream/run-tail.process';

jest.setTimeout(120_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const OTHER_ORG = '99999999-9999-4999-8999-999999999999';
const { queued, started, turn, succeeded } = runEvents;

let harness: Harness;
let owner: Actor;
let colleague: Actor;
let stranger: Actor;
let intake: Awaited<ReturnType<typeof fakeIntake>>;
/** Runs whose rows the fake executor knows: who owns them, and whether they have ended. */
const rows = new Map<string, { org: string; userId: string | null; ended: boolean }>();

beforeAll(async () => {
  harness = await startHarness({ rate: { quota: 1_000_000, windowSeconds: 60 } });
  owner = harness.services.actor(ORG, ['member']);
  colleague = harness.services.actor(ORG, ['member']);
  stranger = harness.services.actor(OTHER_ORG, ['member', 'admin']);
  harness.services.on('runs.get', (caller, input) => {
    const row = rows.get(String(input.run_id));
    if (!row || row.org !== caller.org) throw new Problem('not_found', 'There is no such run');
    if (row.userId !== caller.userId) throw new Problem('forbidden', 'The run belongs to somebody else');
    return {
      run_id: input.run_id,
      state: row.ended ? 'succeeded' : 'running',
      ended_at: row.ended ? '2026-01-01T00:00:00Z' : null,
      at_least: input.at_least ?? null,
    };
  });
  intake = await fakeIntake(harness, (request, runId) => {
    if (request.agent_id === 'off') return [];
    rows.set(runId, { org: ORG, userId: owner.userId, ended: false });
    return request.agent_id === 'quick' ? [queued, started, succeeded] : [queued];
  });
});
afterAll(async () => {
  await intake?.stop();
  await harness?.stop();
});

let counter = 0;
/** A run of the owner with some events. */
async function aRun(...events: Parameters<Harness['append']>[2][]): Promise<string> {
  const runId = `run_spec${++counter}`;
  rows.set(runId, { org: ORG, userId: owner.userId, ended: false });
  for (const event of events) await harness.append(ORG, runId, event);
  return runId;
}

const ask = (path: string, headers: Record<string, string> = {}, actor: Actor | undefined = owner) =>
  fetch(harness.url + path, {
    headers: {
      accept: 'text/event-stream',
      ...(actor ? { authorization: `Bearer ${actor.key}` } : {}),
      ...headers,
    },
  });

const durable = (events: ReadEvent[]) => events.filter((event) => event.event === 'agent-run-event');
const types = (events: ReadEvent[]) =>
  durable(events).map((event) => (JSON.parse(event.data) as { type: string }).type);
const wholeStream = async (answer: Response) => readEventStream(Buffer.from(await answer.arrayBuffer()));
const streams = () => harness.gateway.app.get(RunStreams);
const tail = () => harness.gateway.app.get(RunTail);

/** Reads a stream until a condition holds, then hangs up. */
async function readUntil(
  path: string,
  done: (events: ReadEvent[]) => boolean,
  headers: Record<string, string> = {},
): Promise<ReadEvent[]> {
  const stop = new AbortController();
  const answer = await fetch(harness.url + path, {
    headers: { accept: 'text/event-stream', authorization: `Bearer ${owner.key}`, ...headers },
    signal: stop.signal,
  });
  const reader = new EventStreamReader();
  for await (const chunk of answer.body ?? []) {
    reader.feed(chunk as Uint8Array);
    if (done(reader.events)) break;
  }
  stop.abort();
  return reader.events;
}

describe('GET /v1/runs/{id}/events', () => {
  test('streams history, then live, then the end', async () => {
    const runId = await aRun(queued, started);
    const path = `/v1/runs/${runId}/events`;
    const answer = await ask(path);
    expect(answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(answer.headers.get('cache-control')).toMatch('no-cache');
    await eventually(() => streams().size === 1);
    await harness.append(ORG, runId, turn(1, 'näher'));
    await harness.append(ORG, runId, turn(2), succeeded);
    const events = await wholeStream(answer);
    expect(types(events)).toEqual([
      'RunQueued',
      'RunStarted',
      'ModelTurnCompleted',
      'ModelTurnCompleted',
      'RunSucceeded',
    ]);
    expect(events.at(-1)?.event).toBe('end');
    expect(new Set(durable(events).map((event) => event.id)).size).toBe(5);
    await eventually(() => tail().size === 0);
  });

  test("the npm client eventsource resumes by itself and stops at the end's 204", async () => {
    const runId = await aRun(queued);
    const statuses: (number | undefined)[] = [];
    const seen: string[] = [];
    const source = new EventSource(`${harness.url}/v1/runs/${runId}/events`, {
      fetch: async (url, init) => {
        const answer = await fetch(url, {
          ...init,
          headers: { ...(init?.headers as Record<string, string>), authorization: `Bearer ${owner.key}` },
        });
        statuses.push(answer.status);
        return answer;
      },
    });
    source.addEventListener('agent-run-event', (event) =>
      seen.push((JSON.parse(event.data as string) as { type: string }).type),
    );
    await eventually(() => seen.length === 1);
    await streams().dismissAll();
    await harness.append(ORG, runId, started);
    await eventually(() => seen.length === 2);
    await harness.append(ORG, runId, succeeded);
    await eventually(() => source.readyState === source.CLOSED);
    expect(seen).toEqual(['RunQueued', 'RunStarted', 'RunSucceeded']);
    expect(statuses).toEqual([200, 200, 204]);
  });

  test('an ended run is shown to its end, and a client that has it all gets 204', async () => {
    const runId = await aRun(queued, started, succeeded);
    const events = await wholeStream(await ask(`/v1/runs/${runId}/events`));
    expect(events.map((event) => event.event)).toEqual([
      'agent-run-event',
      'agent-run-event',
      'agent-run-event',
      'end',
    ]);
    const last = durable(events).at(-1)?.id ?? '';
    expect((await ask(`/v1/runs/${runId}/events`, { 'last-event-id': last })).status).toBe(204);
    expect((await ask(`/v1/runs/${runId}/events?after=${last}`)).status).toBe(204);
    const rest = await wholeStream(
      await ask(`/v1/runs/${runId}/events`, { 'last-event-id': durable(events)[1]?.id ?? '' }),
    );
    expect(types(rest)).toEqual(['RunSucceeded']);
  });

  test('the header is newer than the address that a client was opened with', async () => {
    const runId = await aRun(queued, started, succeeded);
    const ids = durable(await wholeStream(await ask(`/v1/runs/${runId}/events`))).map((event) => event.id);
    expect(
      types(
        await wholeStream(
          await ask(`/v1/runs/${runId}/events?after=${ids[0]}`, { 'last-event-id': ids[1] ?? '' }),
        ),
      ),
    ).toEqual(['RunSucceeded']);
  });

  test('pages the same events as JSON', async () => {
    const runId = await aRun(queued, started, turn(1), succeeded);
    const page = async (path: string) => {
      const answer = await ask(path, { accept: 'application/json' });
      return {
        link: answer.headers.get('link'),
        ...((await answer.json()) as {
          data: { type: string }[];
          next_cursor: string | null;
          last_cursor: string;
          ended: boolean;
        }),
      };
    };
    const first = await page(`/v1/runs/${runId}/events?limit=3`);
    expect([first.data.map((event) => event.type), first.ended]).toEqual([
      ['RunQueued', 'RunStarted', 'ModelTurnCompleted'],
      true,
    ]);
    expect(first.link).toBe(`</v1/runs/${runId}/events?limit=3&after=${first.next_cursor}>; rel="next"`);
    const second = await page(`/v1/runs/${runId}/events?after=${first.next_cursor}`);
    expect([second.data.map((event) => event.type), second.next_cursor]).toEqual([['RunSucceeded'], null]);
    expect(await page(`/v1/runs/${runId}/events?after=${second.last_cursor}`)).toMatchObject({
      data: [],
      last_cursor: second.last_cursor,
    });
  });

  test('who may not see the run learns nothing: 404 from outside, 403 from inside, 401 without a credential', async () => {
    const runId = await aRun(queued);
    const status = async (actor: Actor | undefined) =>
      (
        await fetch(`${harness.url}/v1/runs/${runId}/events`, {
          headers: { accept: 'text/event-stream', ...(actor ? { 'x-api-key': actor.key } : {}) },
        })
      ).status;
    expect([await status(stranger), await status(colleague), await status(undefined)]).toEqual([
      404, 403, 401,
    ]);
    expect((await ask('/v1/runs/run_unknown/events')).status).toBe(404);
    expect(streams().size).toBe(0);
  });

  test('a run that the log has and the rows do not have yet is waited for', async () => {
    const runId = await aRun(queued);
    rows.delete(runId);
    harness.services.on('runs.get', withRow(runId, harness.services.handlers.get('runs.get')!));
    expect(durable(await readUntil(`/v1/runs/${runId}/events`, (events) => events.length > 0))).toHaveLength(
      1,
    );
    const asked = harness.services.callsOf('runs.get').filter(({ input }) => input.run_id === runId);
    expect(asked.map(({ input }) => input.at_least)).toEqual([undefined, expect.stringMatching(/^\d+\.0$/)]);
  });

  /** The row appears when a read names a position. */
  const withRow =
    (runId: string, inner: NonNullable<ReturnType<Harness['services']['handlers']['get']>>) =>
    (caller: Parameters<typeof inner>[0], input: Record<string, unknown>) => {
      if (input.run_id === runId && input.at_least !== undefined)
        rows.set(runId, { org: ORG, userId: owner.userId, ended: false });
      return inner(caller, input);
    };
});

describe('C50 cursors over empty reconnects, restarts and nonsense (modelcontextprotocol/typescript-sdk#2809)', () => {
  test('the position holds when a connection brings nothing before it drops', async () => {
    const runId = await aRun(queued, started);
    const path = `/v1/runs/${runId}/events`;
    const at = durable(await readUntil(path, (events) => durable(events).length === 2)).at(-1)?.id ?? '';
    for (let n = 0; n < 3; n++) {
      const events = await readUntil(path, (read) => read.some((event) => event.event === 'caught-up'), {
        'last-event-id': at,
      });
      expect(durable(events)).toEqual([]);
    }
    await harness.append(ORG, runId, turn(1));
    expect(types(await readUntil(path, (events) => events.length > 0, { 'last-event-id': at }))).toEqual([
      'ModelTurnCompleted',
    ]);
  });

  test('a cursor of another run is a position of the same stream', async () => {
    const before = await aRun(queued);
    const runId = await aRun(queued, started);
    const at =
      durable(await readUntil(`/v1/runs/${before}/events`, (events) => events.length > 0))[0]?.id ?? '';
    expect(
      types(
        await readUntil(`/v1/runs/${runId}/events`, (events) => durable(events).length === 2, {
          'last-event-id': at,
        }),
      ),
    ).toEqual(['RunQueued', 'RunStarted']);
  });

  test('one that is none is 400, one of another log or beyond its end is 410 with where to look', async () => {
    const runId = await aRun(queued, started);
    const at =
      durable(await readUntil(`/v1/runs/${runId}/events`, (events) => events.length > 0))[0]?.id ?? '';
    const [incarnation = ''] = at.split('.');
    const answer = async (after: string) => {
      const got = await ask(`/v1/runs/${runId}/events?after=${encodeURIComponent(after)}`);
      return [got.status, ((await got.json()) as { code: string }).code];
    };
    expect(await answer('abc')).toEqual([400, 'invalid_cursor']);
    expect(await answer('7')).toEqual([400, 'invalid_cursor']);
    expect(await answer(`${incarnation}.99999999.0`)).toEqual([410, 'cursor_expired']);
    expect(await answer('anotherlog.1.0')).toEqual([410, 'cursor_expired']);
    const expired = await ask(`/v1/runs/${runId}/events?after=anotherlog.1.0`);
    expect(await expired.json()).toMatchObject({ snapshot: `/v1/runs/${runId}`, retryable: false });
  });

  test('two hundred random cuts give every event once', async () => {
    const runId = await aRun(queued, started);
    for (let n = 0; n < 12; n++) await harness.append(ORG, runId, turn(n, 'text '.repeat(n)), turn(n));
    await harness.append(ORG, runId, succeeded);
    const path = `/v1/runs/${runId}/events`;
    const whole = durable(await wholeStream(await ask(path))).map((event) => event.id);
    for (let round = 0; round < 200; round++) {
      const seen: string[] = [];
      for (let cuts = 0; ; cuts++) {
        const bytes = await cutStream(
          path,
          seen.at(-1),
          cuts < 4 ? Math.floor(Math.random() * 4_000) : Infinity,
        );
        if (bytes === null) break;
        seen.push(...durable(readEventStream(bytes)).map((event) => event.id));
        if (readEventStream(bytes).some((event) => event.event === 'end')) break;
      }
      expect(seen).toEqual(whole);
    }
  });

  /** The body's first bytes; null for 204. What a client can read of a cut stream is what it has seen. */
  async function cutStream(
    path: string,
    lastId: string | undefined,
    bytes: number,
  ): Promise<Uint8Array | null> {
    const stop = new AbortController();
    const headers = {
      accept: 'text/event-stream',
      authorization: `Bearer ${owner.key}`,
      ...(lastId ? { 'last-event-id': lastId } : {}),
    };
    const answer = await fetch(harness.url + path, { headers, signal: stop.signal });
    if (answer.status === 204) return null;
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of answer.body ?? []) {
      chunks.push(Buffer.from(chunk as Uint8Array));
      length += (chunk as Uint8Array).length;
      if (length >= bytes) break;
    }
    stop.abort();
    return Buffer.concat(chunks).subarray(0, Math.min(length, bytes));
  }
});

describe('C49 viewers come and go, runs do not notice (nestjs/nest#17352)', () => {
  test('a thousand viewers that leave at random leave nothing behind, and the run reaches its end', async () => {
    const runId = await aRun(queued, started);
    const path = `/v1/runs/${runId}/events`;
    const { port } = new URL(harness.url);
    const one = () =>
      new Promise<void>((resolve) => {
        const socket = connectSocket(Number(port), '127.0.0.1');
        socket.on('error', () => undefined);
        socket.once('close', () => resolve());
        socket.write(
          `GET ${path} HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nAuthorization: Bearer ${owner.key}\r\n\r\n`,
        );
        setTimeout(() => socket.destroy(), Math.random() * 200);
      });
    for (let batch = 0; batch < 20; batch++) {
      await Promise.all(Array.from({ length: 50 }, one));
      await harness.append(ORG, runId, turn(batch));
    }
    await eventually(() => tail().size === 0 && streams().size === 0);
    await harness.append(ORG, runId, succeeded);
    const events = await wholeStream(await ask(path));
    expect(types(events)).toEqual([
      'RunQueued',
      'RunStarted',
      ...Array.from({ length: 20 }, () => 'ModelTurnCompleted'),
      'RunSucceeded',
    ]);
    // Requests of clients that had left before they were answered may still have been in the queue.
    await eventually(() => tail().size + streams().size === 0);
  });

  test('a viewer whose credential may have changed comes back and shows it again', async () => {
    const runId = await aRun(queued);
    const answer = await ask(`/v1/runs/${runId}/events`);
    await eventually(() => tail().size === 1);
    const subject = subjectOf('people', ORG, 'org');
    await harness.bus.log.append({
      subject,
      expected: await harness.bus.log.lastSequence(subject),
      events: [{ type: 'OrganizationEdited', data: { name: 'x', timeZone: 'UTC' } }],
      meta: { actor: 'system:spec', source: 'agent-registry' },
    });
    const events = await wholeStream(answer);
    expect(events.some((event) => event.event === 'end')).toBe(false);
    await eventually(() => streams().size === 0);
  });
});

describe('C65 ids that are no tokens never reach the bus (rchiofalo/rustgate#616)', () => {
  test.each(['>', '*', 'a.b', 'run 1', 'run\r\nPUB x 0', 'x'.repeat(300), '%00'])('run id %j', async (id) => {
    const answer = await ask(`/v1/runs/${encodeURIComponent(id)}/events`);
    expect([400, 404]).toContain(answer.status);
    expect(harness.services.callsOf('runs.get').some(({ input }) => input.run_id === id)).toBe(false);
    expect(tail().size).toBe(0);
  });

  test('a stream of one org shows no event of another', async () => {
    const runId = 'run_shared';
    rows.set(runId, { org: ORG, userId: owner.userId, ended: false });
    await harness.append(ORG, runId, queued);
    await harness.append(OTHER_ORG, runId, queued, turn(1, 'foreign'));
    const answer = await ask(`/v1/runs/${runId}/events`);
    await eventually(() => tail().size === 1);
    await harness.append(OTHER_ORG, runId, turn(2, 'foreign'), succeeded);
    await harness.append(ORG, runId, succeeded);
    const events = await wholeStream(answer);
    expect(types(events)).toEqual(['RunQueued', 'RunSucceeded']);
    expect(JSON.stringify(events)).not.toContain('foreign');
  });
});

describe('POST /v1/runs', () => {
  const start = (body: unknown, headers: Record<string, string> = {}, query = '', actor = owner) =>
    fetch(`${harness.url}/v1/runs${query}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': actor.key, ...headers },
      body: JSON.stringify(body),
    });
  const body = { agent_id: 'helper', input: 'hello' };

  test('answers 202 with the run that the key names', async () => {
    const answer = await start(body, { 'idempotency-key': 'key-1' });
    const runId = runIdOf(ORG, 'key-1');
    expect([
      answer.status,
      answer.headers.get('location'),
      answer.headers.get('idempotency-replayed'),
    ]).toEqual([202, `/v1/runs/${runId}`, null]);
    expect(await answer.json()).toMatchObject({
      run_id: runId,
      state: 'queued',
      created: true,
      position: expect.stringMatching(/^\d+\.0$/),
    });
  });

  test('the same key and body is the same run, another body is refused', async () => {
    const again = await start(body, { 'idempotency-key': '"key-1"' });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([202, 'true']);
    expect(await again.json()).toMatchObject({ run_id: runIdOf(ORG, 'key-1'), created: false });
    const other = await start({ ...body, input: 'other' }, { 'idempotency-key': 'key-1' });
    expect([other.status, ((await other.json()) as { code: string }).code]).toEqual([
      409,
      'idempotency_key_reused',
    ]);
  });

  test('without a key every request is a run of its own', async () => {
    const ids = await Promise.all(
      [start(body), start(body)].map(
        async (answer) => ((await (await answer).json()) as { run_id: string }).run_id,
      ),
    );
    expect(new Set(ids).size).toBe(2);
  });

  test('a person starts by hand, an application requests; neither can say otherwise', async () => {
    const application = harness.services.actor(ORG, ['service'], null);
    const published: unknown[] = [];
    const spy = harness.connection.subscribe('runyard.requests.*', {
      callback: (_error, message) => void published.push(message.json()),
    });
    await harness.connection.flush();
    await start(body);
    await start(body, {}, '', application);
    await eventually(() => published.length === 2);
    spy.unsubscribe();
    expect(published).toMatchObject([
      { trigger: 'manual', requested_by: `user:${owner.userId}` },
      { trigger: 'requested', requested_by: `service:${application.keyId}` },
    ]);
    expect((await start({ ...body, requested_by: 'user:somebody' })).status).toBe(400);
  });

  test('a refusal of intake is the answer', async () => {
    const answer = await start({ ...body, agent_id: 'off' });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([
      409,
      'agent_disabled',
    ]);
  });

  test('Prefer: wait answers with the run when it ends in time', async () => {
    const pending = start(body, { 'idempotency-key': 'wait-1', prefer: 'respond-async, wait=30' });
    const runId = runIdOf(ORG, 'wait-1');
    await eventually(() => tail().size === 1);
    const sequence = await harness.append(ORG, runId, succeeded);
    const answer = await pending;
    expect([answer.status, answer.headers.get('preference-applied'), answer.headers.get('location')]).toEqual(
      [200, 'wait=30', `/v1/runs/${runId}`],
    );
    expect(await answer.json()).toMatchObject({ run_id: runId, at_least: `${sequence}.0` });
    const quick = await start({ ...body, agent_id: 'quick' }, { prefer: 'wait=30' });
    expect(quick.status).toBe(200);
  });

  test('and with 202 when it does not', async () => {
    const answer = await start(body, { prefer: 'wait=1' });
    expect([answer.status, answer.headers.get('preference-applied')]).toEqual([202, 'wait=1']);
    expect(tail().size).toBe(0);
  });

  test.each([
    ['?stream=true', {}],
    ['', { accept: 'text/event-stream' }],
  ])('streams the run it started (%j %j)', async (query, headers) => {
    const answer = await start({ ...body, agent_id: 'quick' }, headers, query);
    expect([answer.status, answer.headers.get('location')]).toEqual([
      200,
      expect.stringMatching(/^\/v1\/runs\/run_/),
    ]);
    const events = await wholeStream(answer);
    expect(types(events)).toEqual(['RunQueued', 'RunStarted', 'RunSucceeded']);
    expect(events.at(-1)?.event).toBe('end');
  });

  test('a conversation of somebody else is refused before anything is published (C63, mastra-ai/mastra#22575)', async () => {
    harness.services.on('conversations.get', (_caller, { conversation_id }) => {
      if (conversation_id === 'theirs')
        throw new Problem('forbidden', 'The conversation belongs to somebody else');
      throw new Problem('not_found', 'There is no such conversation');
    });
    expect(
      (await start({ ...body, conversation_id: 'theirs' }, { 'idempotency-key': 'theirs' })).status,
    ).toBe(403);
    expect(await harness.bus.log.lastSequence(subjectOf('runs', ORG, runIdOf(ORG, 'theirs')))).toBe(0);
    expect((await start({ ...body, conversation_id: 'new' })).status).toBe(202);
  });

  test('nobody who takes the request: 202 with the run id after two seconds', async () => {
    await intake.stop();
    const answer = await start(body, { 'idempotency-key': 'late' });
    expect([answer.status, await answer.json()]).toEqual([
      202,
      { run_id: runIdOf(ORG, 'late'), state: null, reason: null, position: null, created: null },
    ]);
  });
});

describe('a slow viewer', () => {
  test('is cut off when too much waits, and loses nothing by its cursor', async () => {
    await using tight = await startHarness({ streams: { ...harness.config.streams, maxWaiting: 100_000 } });
    const actor = tight.services.actor(ORG, ['member']);
    tight.services.on('runs.get', () => ({ ended_at: null }));
    await tight.append(ORG, 'run_slow', queued);
    const { port } = new URL(tight.url);
    const socket = connectSocket(Number(port), '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.on('error', () => undefined);
    socket.write(
      `GET /v1/runs/run_slow/events HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\nX-API-Key: ${actor.key}\r\n\r\n`,
    );
    socket.pause();
    const open = () => tight.gateway.app.get(RunStreams).size;
    await eventually(() => tight.gateway.app.get(RunTail).size === 1);
    for (let n = 0; open() > 0 && n < 1_000; n++)
      await tight.append(ORG, 'run_slow', turn(n, 'x'.repeat(50_000)));
    expect(open()).toBe(0);
    socket.resume();
    await closed;
    await tight.append(ORG, 'run_slow', succeeded);
    const answer = await fetch(`${tight.url}/v1/runs/run_slow/events`, {
      headers: { accept: 'text/event-stream', 'x-api-key': actor.key },
    });
    expect(types(await wholeStream(answer)).at(-1)).toBe('RunSucceeded');
  });
});

test('a gateway that stops lets its viewers go and closes', async () => {
  const stopping = await startHarness();
  const actor = stopping.services.actor(ORG, ['member']);
  stopping.services.on('runs.get', () => ({ ended_at: null }));
  await stopping.append(ORG, 'run_1', queued);
  const answer = await fetch(`${stopping.url}/v1/runs/run_1/events`, {
    headers: { accept: 'text/event-stream', 'x-api-key': actor.key },
  });
  await eventually(() => stopping.gateway.app.get(RunTail).size === 1);
  const body = wholeStream(answer);
  const before = performance.now();
  await stopping.stop();
  expect(performance.now() - before).toBeLessThan(20_000);
  expect(types(await body)).toEqual(['RunQueued']);
});

test('a gateway that stops answers the request in hand and lets waiters go', async () => {
  const stopping = await startHarness();
  const taking = await fakeIntake(stopping);
  const actor = stopping.services.actor(ORG, ['member']);
  let finish: () => void = () => undefined;
  const working = new Promise<void>((resolve) => (finish = resolve));
  stopping.services.on('agents.list', async () => {
    await working;
    return { data: [], next_cursor: null };
  });
  const headers = { 'x-api-key': actor.key, 'content-type': 'application/json' };
  const inHand = fetch(`${stopping.url}/v1/agents`, { headers });
  const waiting = fetch(`${stopping.url}/v1/runs`, {
    method: 'POST',
    headers: { ...headers, prefer: 'wait=60' },
    body: JSON.stringify({ agent_id: 'helper', input: 'x' }),
  });
  await eventually(
    () =>
      stopping.services.callsOf('agents.list').length === 1 && stopping.gateway.app.get(RunTail).size === 1,
  );
  const closed = stopping.gateway.close();
  expect((await waiting).status).toBe(202);
  finish();
  expect((await inHand).status).toBe(200);
  await closed;
  await taking.stop();
  await stopping.stop();
});
