// The client package against the real gateway, over connections that break.
import { randomUUID } from 'node:crypto';
import { Runyard } from '@runyard/client';
import type { RunStreamEvent } from '@runyard/client';
import { Problem } from '@runyard/contracts';
import { eventually, faultyProxy } from '@runyard/testing';
import type { FaultyProxy } from '@runyard/testing';
import { RunStreams } from '../src/stream/run-streams';
import { fakeIntake, runEvents } from './fake-intake';
import type { Actor } from './fake-services';
import { startHarness } from './harness';
import type { Harness } from './harness';

jest.setTimeout(180_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const { queued, started, turn, succeeded } = runEvents;

let harness: Harness;
let owner: Actor;
let intake: Awaited<ReturnType<typeof fakeIntake>>;
let proxy: FaultyProxy;
/** Through the proxy, and straight. */
let far: Runyard;
let near: Runyard;
const requests: string[] = [];

beforeAll(async () => {
  harness = await startHarness({ rate: { quota: 1_000_000, windowSeconds: 60 } });
  owner = harness.services.actor(ORG, ['member', 'service']);
  harness.services.on('runs.get', (_caller, { run_id, at_least }) => {
    if (String(run_id) === 'run_unknown') throw new Problem('not_found', 'There is no such run');
    return { run_id, state: 'running', ended_at: null, position: at_least ?? '0.0' };
  });
  intake = await fakeIntake(harness, (request, runId) => {
    requests.push(runId);
    return request.agent_id === 'quick' ? [queued, started, succeeded] : [queued];
  });
  proxy = await faultyProxy(Number(new URL(harness.url).port));
  near = new Runyard({ url: harness.url, key: owner.key });
  far = new Runyard({ url: proxy.url.replace('nats:', 'http:'), key: owner.key });
});
afterAll(async () => {
  await proxy?.[Symbol.asyncDispose]();
  await intake?.stop();
  await harness?.stop();
});
afterEach(() => proxy.heal());

const viewers = () => harness.gateway.app.get(RunStreams).size;
async function aRun(): Promise<string> {
  const { run_id } = await near.runs.start({ agent_id: 'helper', input: randomUUID() });
  return run_id;
}

/** Follows a run in the background. */
function follow(client: Runyard, runId: string, options: Parameters<Runyard['runs']['stream']>[1] = {}) {
  const seen: RunStreamEvent[] = [];
  const done = (async () => {
    for await (const event of client.runs.stream(runId, options)) seen.push(event);
  })();
  return { seen, done };
}

test('an answer that is lost on its way makes no second run', async () => {
  const before = requests.length;
  proxy.lose('toClient');
  const call = far.runs.start({ agent_id: 'helper', input: 'once' });
  await eventually(() => requests.length === before + 1, { withinMs: 30_000 });
  proxy.cut();
  proxy.heal();
  expect(await call).toMatchObject({ run_id: requests[before], created: false });
  expect(requests).toHaveLength(before + 1);
});

test('every event once and in order, however often the connection is cut', async () => {
  const runId = await aRun();
  const { seen, done } = follow(far, runId);
  for (let step = 1; step <= 12; step++) {
    await harness.append(ORG, runId, turn(step, `Schritt ${step}`));
    if (step % 3 === 0) {
      // A cut between events, and one with an event under way.
      if (step % 2 === 0) await eventually(() => seen.length === step + 1, { withinMs: 60_000 });
      proxy.cut();
    }
  }
  await harness.append(ORG, runId, succeeded);
  await done;
  const steps = seen.flatMap((event) => (event.type === 'ModelTurnCompleted' ? [event.data.step] : []));
  expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
  expect(seen.map(({ type }) => type).filter((type) => type !== 'ModelTurnCompleted')).toEqual([
    'RunQueued',
    'RunSucceeded',
  ]);
  expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(14);
});

test('a stream goes on from a cursor, and ends at once where nothing is left', async () => {
  const runId = await aRun();
  await harness.append(ORG, runId, started, succeeded);
  const first = follow(near, runId);
  await first.done;
  expect(first.seen.map(({ type }) => type)).toEqual(['RunQueued', 'RunStarted', 'RunSucceeded']);
  const rest = follow(near, runId, { after: first.seen[0]?.cursor ?? '' });
  await rest.done;
  expect(rest.seen.map(({ type }) => type)).toEqual(['RunStarted', 'RunSucceeded']);
  const none = follow(near, runId, { after: first.seen[2]?.cursor ?? '' });
  await none.done;
  expect(none.seen).toEqual([]);
});

test('starting and waiting for the end reads the row as of the end', async () => {
  const row = await near.runs.finish({ agent_id: 'quick', input: 'done?' });
  expect(row.run_id).toBe(requests.at(-1));
  expect(row.position).toMatch(/^[1-9]\d*\.0$|^[1-9]\d*\.\d$/);
});

test('a signal or a break leaves the stream, and nobody watches any more', async () => {
  const runId = await aRun();
  const stop = new AbortController();
  const { seen, done } = follow(near, runId, { signal: stop.signal });
  await eventually(() => seen.length === 1 && viewers() === 1, { withinMs: 30_000 });
  stop.abort(new Error('enough'));
  await expect(done).rejects.toThrow('enough');
  for await (const { type } of near.runs.stream(runId)) {
    expect(type).toBe('RunQueued');
    break;
  }
  await eventually(() => viewers() === 0, { withinMs: 30_000 });
});

test('refusals come as what they are', async () => {
  const refused = near.runs.get('run_unknown');
  await expect(refused).rejects.toMatchObject({ name: 'Refused', status: 404, code: 'not_found' });
  await expect(refused).rejects.toHaveProperty('requestId', expect.stringMatching(/\S{8,}/));
  await expect(follow(near, 'run_unknown').done).rejects.toMatchObject({ code: 'not_found' });
  const runId = await aRun();
  await expect(follow(near, runId, { after: 'nonsense' }).done).rejects.toMatchObject({
    code: 'invalid_cursor',
  });
  const stranger = new Runyard({ url: harness.url, key: 'ry_live_wrong' });
  await expect(stranger.runs.list().all()).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
});

test('a list is read to its end over its pages', async () => {
  harness.services.on('runs.list', (_caller, { cursor, limit }) => {
    const from = Number(cursor ?? 0);
    const data = [0, 1, 2].map((n) => ({ run_id: `run_${from + n}` }));
    return { data: data.slice(0, Number(limit)), next_cursor: from < 6 ? String(from + 3) : null };
  });
  const rows = await near.runs.list({ limit: 3 }).all();
  expect(rows.map(({ run_id }) => run_id)).toEqual([...Array(9).keys()].map((n) => `run_${n}`));
});
