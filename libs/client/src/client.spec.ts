import { NoAnswer, Refused, Runyard } from './index';

const json = (status: number, body: unknown, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } });
const problem = (status: number, code: string, retryable: boolean, headers: Record<string, string> = {}) =>
  json(status, { code, detail: 'because', request_id: 'req-1', retryable, status }, headers);
const cut = () => Promise.reject(new TypeError('fetch failed'));

type Step = () => Response | Promise<Response>;

/** A server that answers by a script; it records what it was asked. */
function scripted(...steps: Step[]) {
  const asked: { url: string; method: string; headers: Record<string, string>; body: unknown; at: number }[] =
    [];
  const ask = (async (url: string, init: RequestInit) => {
    asked.push({
      url,
      method: String(init.method),
      headers: init.headers as Record<string, string>,
      body: init.body,
      at: Date.now(),
    });
    const step = steps[asked.length - 1];
    if (!step) throw new Error('asked more often than the script says');
    return step();
  }) as unknown as typeof fetch;
  return { asked, client: new Runyard({ url: 'http://gateway/', key: 'ry_live_x', fetch: ask }) };
}

beforeEach(() => jest.useFakeTimers());
afterEach(() => {
  jest.useRealTimers();
  jest.restoreAllMocks();
});

/** Lets all waits pass. */
async function settled<T>(call: Promise<T>): Promise<T | Error> {
  const outcome = call.catch((error: Error) => error);
  await jest.advanceTimersByTimeAsync(300_000);
  return outcome;
}

const run = { run_id: 'run_1', state: 'queued' };
const start = (client: Runyard) => client.runs.start({ agent_id: 'helper', input: 'hi' });

test('a call carries its credential, its path and its body', async () => {
  const { asked, client } = scripted(() => json(200, run));
  await client.call('GET /v1/runs/{run_id}/steps', { path: { run_id: 'a/b?c' }, query: { limit: 5 } });
  expect(asked[0]).toMatchObject({ url: 'http://gateway/v1/runs/a%2Fb%3Fc/steps?limit=5', method: 'GET' });
  expect(asked[0]?.headers).toMatchObject({ authorization: 'Bearer ry_live_x' });
  expect(asked[0]?.headers).not.toHaveProperty('idempotency-key');
});

test('one idempotency key per logical call, kept over its retries', async () => {
  const { asked, client } = scripted(
    cut,
    () => problem(503, 'unavailable', true),
    () => json(202, run),
    () => json(202, run),
  );
  expect(await settled(start(client))).toEqual(run);
  await settled(start(client));
  const keys = asked.map(({ headers }) => headers['idempotency-key']);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
  expect(asked[0]?.body).toBe(asked[2]?.body);
});

test.each<[what: string, step: Step, requests: number]>([
  ['a cut connection', cut, 3],
  ['an overloaded platform', () => problem(503, 'unavailable', true), 3],
  ['a proxy without the gateway', () => new Response('bad gateway', { status: 502 }), 3],
  ['too many requests', () => problem(429, 'rate_limited', true, { 'retry-after': '2' }), 3],
  ['the same request under way', () => problem(409, 'request_in_progress', true), 3],
  [
    'a busy conversation, which is the caller’s to wait for',
    () => problem(409, 'conversation_busy', true),
    1,
  ],
  ['a defect', () => problem(500, 'internal', false), 1],
  ['a refusal', () => problem(404, 'not_found', false), 1],
  ['a wait beyond patience', () => problem(429, 'rate_limited', true, { 'retry-after': '3600' }), 1],
])('a POST after %s', async (_what, step, requests) => {
  const { asked, client } = scripted(step, step, step);
  expect(await settled(start(client))).toBeInstanceOf(Error);
  expect(asked).toHaveLength(requests);
});

test('a PATCH is repeated only where it was surely not handled', async () => {
  const patch = (client: Runyard) => client.agents.update('helper', { prompt: 'Help.' }, { etag: '"3"' });
  const broken = scripted(cut);
  expect(await settled(patch(broken.client))).toBeInstanceOf(NoAnswer);
  expect(broken.asked[0]?.headers).toMatchObject({ 'if-match': '"3"' });
  const limited = scripted(
    () => problem(429, 'rate_limited', true),
    () => json(200, { agent_id: 'helper' }),
  );
  expect(await settled(patch(limited.client))).toMatchObject({ agent_id: 'helper' });
});

test('a key is not made twice', async () => {
  const { asked, client } = scripted(cut);
  const made = client.call('POST /v1/keys', { body: { label: 'ci', roles: ['service'] } });
  expect(await settled(made)).toBeInstanceOf(NoAnswer);
  expect(asked).toHaveLength(1);
});

test('Retry-After is honoured, and chance spreads the rest', async () => {
  jest.spyOn(Math, 'random').mockReturnValue(0);
  const { asked, client } = scripted(
    () => problem(429, 'rate_limited', true, { 'retry-after': '7' }),
    () => json(202, run),
  );
  await settled(start(client));
  expect((asked[1]?.at ?? 0) - (asked[0]?.at ?? 0)).toBe(7_250);
});

test('a refusal says what it is', async () => {
  const errors = [{ pointer: '/input', detail: 'must not be empty' }];
  const body = {
    code: 'invalid_request',
    detail: 'The input is empty',
    request_id: 'req-7',
    retryable: false,
    errors,
  };
  const { client } = scripted(() => json(400, body));
  const refused = await settled(start(client));
  expect(refused).toBeInstanceOf(Refused);
  expect(refused).toMatchObject({
    status: 400,
    code: 'invalid_request',
    requestId: 'req-7',
    errors,
    problem: body,
  });
  const { client: proxied } = scripted(() => new Response('<html>', { status: 404 }));
  expect(await settled(start(proxied))).toMatchObject({ status: 404, code: 'unknown', requestId: null });
});

test('a signal stops a call, also while it waits for its next try', async () => {
  const stop = new AbortController();
  const { asked, client } = scripted(cut, cut, cut);
  const call = client.runs.get('run_1', { signal: stop.signal }).catch((error: unknown) => error);
  await jest.advanceTimersByTimeAsync(10);
  stop.abort(new Error('enough'));
  expect(await call).toEqual(new Error('enough'));
  expect(asked).toHaveLength(1);
});

test('a list is read page by page, and no further than wanted', async () => {
  const page = (ids: string[], next: string | null) => () =>
    json(200, { data: ids.map((run_id) => ({ run_id })), next_cursor: next });
  const { asked, client } = scripted(page(['a', 'b'], 'c1'), page(['c'], null), page(['a', 'b'], 'c1'));
  const rows = await client.runs.list({ agent_id: 'helper', limit: 2 }).all();
  expect(rows.map(({ run_id }) => run_id)).toEqual(['a', 'b', 'c']);
  expect(asked[1]?.url).toBe('http://gateway/v1/runs?agent_id=helper&limit=2&cursor=c1');
  expect(await client.runs.list().all(1)).toHaveLength(1);
  expect(asked).toHaveLength(3);
});

const encoder = new TextEncoder();
const frame = (n: number) =>
  `id: inc.${n}.0\nevent: agent-run-event\ndata: ${JSON.stringify({ run_id: 'run_1', type: 'RunStarted', position: `${n}.0`, time: '', actor: 'x', data: { note: 'näher' } })}\n\n`;
/** An event stream in chunks of three bytes; `broken` ends it as a cut connection does. */
function streaming(text: string, broken = false): Response {
  const bytes = encoder.encode(text);
  let at = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (at < bytes.length) return controller.enqueue(bytes.slice(at, (at += 3)));
      if (broken) controller.error(new TypeError('terminated'));
      else controller.close();
    },
  });
  return new Response(body, { status: 200, headers: { 'content-type': 'text/event-stream' } });
}

async function positions(
  client: Runyard,
  options: Parameters<Runyard['runs']['stream']>[1] = {},
): Promise<string[]> {
  const seen: string[] = [];
  for await (const { position } of client.runs.stream('run_1', options)) seen.push(position);
  return seen;
}

test('a stream goes on after its last event, over cuts, closes and refusals that pass', async () => {
  const { asked, client } = scripted(
    () => streaming(`retry: 50\n\n${frame(1)}${frame(2)}id: inc.3.0\ndata: half`, true),
    cut,
    () => problem(503, 'unavailable', true),
    () => streaming(frame(3)),
    () => streaming(': ping\n\nevent: caught-up\ndata: {}\n\n'),
    () => streaming(`${frame(4)}event: end\ndata: {}\n\n`),
  );
  expect(await settled(positions(client))).toEqual(['1.0', '2.0', '3.0', '4.0']);
  expect(asked.map(({ headers }) => headers['last-event-id'])).toEqual([
    undefined,
    'inc.2.0',
    'inc.2.0',
    'inc.2.0',
    'inc.3.0',
    'inc.3.0',
  ]);
});

test('a stream ends where nothing is left to come', async () => {
  const { asked, client } = scripted(() => new Response(null, { status: 204 }));
  expect(await settled(positions(client, { after: 'inc.9.0' }))).toEqual([]);
  expect(asked[0]?.headers).toMatchObject({ 'last-event-id': 'inc.9.0' });
});

test.each<[string, Step, number, object]>([
  [
    'a cursor of a log that was replaced',
    () => problem(410, 'cursor_expired', false),
    1,
    { code: 'cursor_expired' },
  ],
  ['a revoked credential', () => problem(401, 'unauthenticated', false), 1, { code: 'unauthenticated' }],
  ['a server that is gone', cut, 3, { name: 'NoAnswer' }],
  ['a server that says nothing', () => streaming(''), 3, { name: 'NoAnswer' }],
])('a stream gives up after %s', async (_what, step, requests, failure) => {
  const { asked, client } = scripted(step, step, step);
  expect(await settled(positions(client, { attempts: 3 }))).toMatchObject(failure);
  expect(asked).toHaveLength(requests);
});
