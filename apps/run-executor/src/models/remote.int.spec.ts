import {
  anthropicRoute,
  KEY,
  named,
  openAiRoute,
  request,
  sse,
  startProvider,
  tool,
  type FakeAnswer,
  type Script,
} from './fake-provider';
import { createModelAdapter, type ModelAdapterOptions } from './model.adapter';
import type { ModelFailure, ModelRequest, ModelResult, ModelTurn } from './types';

// Many exchanges over real sockets, on machines that may be busy with other specs.
jest.setTimeout(120_000);

const adapter = (options: Partial<ModelAdapterOptions> = {}): ReturnType<typeof createModelAdapter> =>
  createModelAdapter({ secrets: () => KEY, recordings: () => Promise.reject(new Error('none')), ...options });

const text = (content: string | null, finish: string | null = null): object => ({
  model: 'gpt-x-1',
  choices: [{ index: 0, delta: { content }, finish_reason: finish }],
});
const usage = {
  choices: [],
  usage: { prompt_tokens: 11, completion_tokens: 2, prompt_tokens_details: { cached_tokens: 3 } },
};
const messageStart = {
  type: 'message_start',
  message: { id: 'm', model: 'claude-x-1', content: [], usage: { input_tokens: 25, output_tokens: 1 } },
};
const blockStart = { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } };
const words = (piece: string): { type: string } =>
  ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } }) as { type: string };
const messageDelta = {
  type: 'message_delta',
  delta: { stop_reason: 'end_turn' },
  usage: { output_tokens: 4 },
};
const messageStop = { type: 'message_stop' };

const kinds = [
  ['openai-compatible', openAiRoute, sse(text('Hi'), text(null, 'stop'), usage, '[DONE]')],
  ['anthropic', anthropicRoute, named(messageStart, blockStart, words('Hi'), messageDelta, messageStop)],
] as const;
type Route = (typeof kinds)[number][1];

async function ask(
  script: Script,
  route: Route,
  more: Partial<ModelRequest> = {},
  options = {},
): Promise<ModelResult> {
  await using provider = await startProvider(script);
  return await adapter(options).call(request(route(provider.url), more));
}
const turnOf = (result: ModelResult): ModelTurn => {
  if (!result.ok) throw new Error(result.failure.text);
  return result.turn;
};
const failureOf = (result: ModelResult): ModelFailure => {
  if (result.ok) throw new Error('The call succeeded.');
  return result.failure;
};
const stream = (body: string | Uint8Array, more: Partial<FakeAnswer> = {}): FakeAnswer => ({
  body: [body],
  ...more,
});

/** Cancels once the answer's bytes have brought a word to the reader. */
const cancelAfter =
  (word: string, cancel: AbortController): typeof globalThis.fetch =>
  async (input, init) => {
    const response = await fetch(input, init);
    const watch = new TransformStream<Uint8Array, Uint8Array>({
      transform: (bytes, out) => {
        out.enqueue(bytes);
        if (Buffer.from(bytes).includes(word)) setTimeout(() => cancel.abort(), 0);
      },
    });
    return new Response(response.body?.pipeThrough(watch), response);
  };

describe.each(kinds)('%s', (kind, route, body) => {
  it('answers a turn, with usage as reported', async () => {
    await using provider = await startProvider(() => stream(body));
    const turn = turnOf(await adapter().call(request(route(provider.url))));
    expect(turn).toMatchObject({ text: 'Hi', toolCalls: [], finish: 'stop', providerState: null });
    expect(turn.usage).toEqual(
      kind === 'anthropic'
        ? { input: 25, output: 4, cached: 0, estimated: false }
        : { input: 11, output: 2, cached: 3, estimated: false },
    );
    expect(turn.model).toMatch(/-x-1$/);
    const [received] = provider.received;
    expect(received?.path).toBe(kind === 'anthropic' ? '/v1/messages' : '/v1/chat/completions');
    expect(received?.body).toMatchObject({
      stream: true,
      max_tokens: 500,
      model: kind === 'anthropic' ? 'claude-test' : 'gpt-test',
    });
    expect(received?.headers[kind === 'anthropic' ? 'x-api-key' : 'authorization']).toContain(KEY);
    if (kind !== 'anthropic') expect(received?.body['stream_options']).toEqual({ include_usage: true });
  });

  const statuses: [number, ModelFailure['code'], boolean][] = [
    [301, 'provider_invalid', false],
    [400, 'provider_invalid', false],
    [401, 'provider_auth', false],
    [403, 'provider_auth', false],
    [404, 'provider_invalid', false],
    [408, 'provider_unavailable', true],
    [409, 'provider_unavailable', true],
    [413, 'provider_invalid', false],
    [422, 'provider_invalid', false],
    [429, 'rate_limited', true],
    [500, 'provider_unavailable', true],
    [502, 'provider_unavailable', true],
    [503, 'provider_unavailable', true],
    [529, 'provider_unavailable', true],
  ];
  it.each(statuses)('status %i is %s, retryable: %s', async (status, code, retryable) => {
    const error = JSON.stringify({ type: 'error', error: { type: 'x', message: `Told ${KEY}` } });
    const headers = {
      'content-type': 'application/json',
      'retry-after': '1.5',
      location: 'http://127.0.0.1:1/',
    };
    const failure = failureOf(await ask(() => stream(error, { status, headers }), route));
    expect(failure).toEqual({
      code,
      status,
      retryable,
      retryAfterMs: 1_500,
      partialText: null,
      usage: null,
      text: `The provider answered ${status}: Told [redacted]`,
    });
  });

  it('an error page is shown shortened, a used-up quota is not retried', async () => {
    const page = await ask(() => stream('x'.repeat(5_000), { status: 502 }), route);
    expect(failureOf(page).text.length).toBeLessThan(1_100);
    const quota = JSON.stringify({ error: { message: 'Pay', code: 'insufficient_quota' } });
    expect(failureOf(await ask(() => stream(quota, { status: 429 }), route))).toMatchObject({
      code: 'rate_limited',
      retryable: false,
    });
  });

  it('a refused connection may pass', async () => {
    const failure = failureOf(await adapter().call(request(route('http://127.0.0.1:1'))));
    expect(failure).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      status: null,
      usage: null,
    });
    expect(failure.text).toContain('127.0.0.1:1');
  });

  it('a missing secret is named, an unsendable one too, and neither is shown', async () => {
    const missing = failureOf(await ask(() => stream(body), route, {}, { secrets: () => undefined }));
    expect(missing).toMatchObject({ code: 'provider_auth', retryable: false });
    expect(missing.text).toMatch(/OPENAI|ANTHROPIC/);
    const broken = failureOf(await ask(() => stream(body), route, {}, { secrets: () => 'two\nlines' }));
    expect(broken.code).toBe('provider_auth');
    expect(broken.text).not.toContain('two');
    const throwing = () => {
      throw new Error(KEY);
    };
    expect(failureOf(await ask(() => stream(body), route, {}, { secrets: throwing })).text).not.toContain(
      KEY,
    );
  });

  it('a base URL that is none is refused', async () => {
    expect(failureOf(await adapter().call(request(route('nowhere'))))).toMatchObject({
      code: 'provider_invalid',
      retryable: false,
    });
  });

  it('a silent stream and a silent head end by time-out', async () => {
    const begun = body.slice(0, body.indexOf('\n\n') + 2);
    const silentBody = { timeouts: { idleMs: 50 } };
    expect(failureOf(await ask(() => stream(begun, { hang: true }), route, {}, silentBody))).toMatchObject({
      code: 'interrupted',
      retryable: true,
    });
    const silent = adapter({
      timeouts: { headMs: 50 },
      fetch: (_, init) =>
        new Promise((__, reject) =>
          init?.signal?.addEventListener('abort', () => reject(init.signal?.reason)),
        ),
    });
    expect(failureOf(await silent.call(request(route('http://127.0.0.1:9'))))).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      usage: null,
    });
  });

  it('cancelling ends the call in flight and frees the connection', async () => {
    const cancel = new AbortController();
    const begun = body.slice(0, body.indexOf('\n\n', body.indexOf('Hi')) + 2);
    await using provider = await startProvider(() => stream(begun, { hang: true }));
    const asked = request(route(provider.url), { signal: cancel.signal });
    const failure = failureOf(await adapter({ fetch: cancelAfter('Hi', cancel) }).call(asked));
    expect(failure).toMatchObject({ code: 'cancelled', retryable: false, partialText: 'Hi' });
    expect(failure.usage).toMatchObject({ estimated: true });
    const before = await adapter().call(request(route(provider.url), { signal: AbortSignal.abort() }));
    expect(failureOf(before).code).toBe('cancelled');
    expect(provider.received).toHaveLength(1);
  });

  it("malformed JSON inside the stream is the provider's fault and may pass", async () => {
    const failure = failureOf(await ask(() => stream(body.replace('"Hi"', '"Hi')), route));
    expect(failure).toMatchObject({ code: 'provider_invalid', status: 200, retryable: true });
  });

  it.each([
    ['a page', '<html>Sign in</html>'],
    ['another object', '{"hello":1}'],
    ['a list', '[]'],
  ])('%s instead of an answer is refused', async (_, page) => {
    expect(failureOf(await ask(() => stream(page), route))).toMatchObject({
      code: 'provider_invalid',
      status: 200,
    });
  });

  it('nothing at all, or only blank lines, is an interruption', async () => {
    expect(failureOf(await ask(() => stream(''), route))).toMatchObject({
      code: 'interrupted',
      partialText: null,
    });
    expect(failureOf(await ask(() => ({ body: ['\n', '\n\n'] }), route))).toMatchObject({
      code: 'interrupted',
    });
  });

  it('C53 the body may be cut anywhere, and blank lines may come first (musistudio/claude-code-router#1672)', async () => {
    const all = Buffer.from(`\n${body.replace('Hi', '北🌍é')}`);
    let at = 0;
    await using provider = await startProvider(() => ({ body: [all.subarray(0, at), all.subarray(at)] }));
    const model = adapter();
    for (at = 1; at < all.length; at++)
      expect(turnOf(await model.call(request(route(provider.url)))).text).toBe('北🌍é');
  });

  it('C21 a stream that is cut anywhere is never a finished answer (vercel/ai#10653)', async () => {
    const all = Buffer.from(body);
    const last = all.indexOf(kind === 'anthropic' ? '"message_stop"}' : '"stop"}]}');
    let at = 0;
    await using provider = await startProvider(() => ({ body: [all.subarray(0, at)], cut: at % 2 === 0 }));
    const model = adapter();
    for (at = 0; at < last; at += 3) {
      const failure = failureOf(await model.call(request(route(provider.url))));
      expect(failure.code === 'interrupted' || (at === 0 && failure.code === 'provider_unavailable')).toBe(
        true,
      );
      expect(failure.retryable).toBe(true);
    }
  });

  it('a secret that an answer repeats is taken out', async () => {
    const turn = turnOf(await ask(() => stream(body.replace('Hi', `key ${KEY}!`)), route));
    expect(turn.text).toBe('key [redacted]!');
  });

  it('uses its connection again', async () => {
    await using provider = await startProvider(() => stream(body));
    const model = adapter();
    for (let i = 0; i < 6; i++) turnOf(await model.call(request(route(provider.url))));
    // The rest of an answer is read beside the next call, which may need a second connection meanwhile.
    expect(provider.connections()).toBeLessThanOrEqual(2);
  });
});

describe('C21 an error inside a 200 stream (vercel/ai#10653)', () => {
  const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
  it('before any content is an outage that may pass, and books nothing', async () => {
    const failure = failureOf(await ask(() => stream(named(overloaded)), anthropicRoute));
    expect(failure).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
      partialText: null,
      usage: null,
    });
  });
  it('after content is an interruption that keeps the text and books what was used', async () => {
    const events = [messageStart, blockStart, words('Hel'), words('lo'), overloaded];
    const failure = failureOf(await ask(() => stream(named(...events)), anthropicRoute));
    expect(failure).toMatchObject({ code: 'interrupted', retryable: true, partialText: 'Hello' });
    expect(failure.usage).toEqual({ input: 25, output: 5, cached: 0, estimated: true });
  });
  it.each([
    ['rate_limit_error', 'rate_limited', true],
    ['authentication_error', 'provider_auth', false],
    ['invalid_request_error', 'provider_invalid', false],
    ['api_error', 'provider_unavailable', true],
    ['new_kind_of_error', 'provider_unavailable', true],
  ])('%s', async (type, code, retryable) => {
    const error = { type: 'error', error: { type, message: 'm' } };
    expect(failureOf(await ask(() => stream(named(error)), anthropicRoute))).toMatchObject({
      code,
      retryable,
    });
  });
  it('of a chat-completions stream', async () => {
    const error = { error: { message: 'Provider returned error', code: 502 } };
    expect(failureOf(await ask(() => stream(sse(error)), openAiRoute))).toMatchObject({
      code: 'provider_unavailable',
      retryable: true,
    });
    expect(failureOf(await ask(() => stream(sse(text('a'), error)), openAiRoute))).toMatchObject({
      code: 'interrupted',
      partialText: 'a',
    });
    const ended = { choices: [{ delta: {}, finish_reason: 'error' }] };
    expect(failureOf(await ask(() => stream(sse(text('a'), ended)), openAiRoute))).toMatchObject({
      code: 'interrupted',
    });
  });
});

describe('what servers get wrong', () => {
  it('a whole answer instead of a stream, whatever its content type says', async () => {
    const whole = {
      model: 'm',
      choices: [{ message: { content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1 },
    };
    for (const type of ['application/json', 'text/event-stream', 'text/plain']) {
      const answer = stream(JSON.stringify(whole, null, 2), { headers: { 'content-type': type } });
      expect(turnOf(await ask(() => answer, openAiRoute))).toMatchObject({
        text: 'Hi',
        finish: 'stop',
        usage: { estimated: false },
      });
    }
    const message = {
      id: 'm',
      type: 'message',
      content: [{ type: 'text', text: 'Hi' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 1, output_tokens: 1 },
    };
    expect(turnOf(await ask(() => stream(JSON.stringify(message)), anthropicRoute))).toMatchObject({
      text: 'Hi',
      finish: 'stop',
    });
  });
  it('no usage: an upper estimate', async () => {
    const turn = turnOf(await ask(() => stream(sse(text('Hallo é'), text(null, 'stop'))), openAiRoute));
    expect(turn.usage).toMatchObject({ output: 8, cached: 0, estimated: true });
    expect(turn.usage.input).toBeGreaterThan('You help.Hello'.length);
  });
  it('a connection that breaks after the finish reason, and a last event without blank line', async () => {
    expect(turnOf(await ask(() => stream(sse(text('Hi', 'stop')), { cut: true }), openAiRoute)).text).toBe(
      'Hi',
    );
    expect(turnOf(await ask(() => stream(sse(text('Hi', 'stop')).trimEnd()), openAiRoute)).text).toBe('Hi');
  });
  it("retry-after as milliseconds, and as a date by the server's own clock", async () => {
    const asked = async (headers: Record<string, string>) =>
      failureOf(await ask(() => stream('', { status: 429, headers }), openAiRoute)).retryAfterMs;
    expect(await asked({ 'retry-after-ms': '250', 'retry-after': '9' })).toBe(250);
    expect(
      await asked({ date: 'Wed, 21 Oct 2015 07:28:00 GMT', 'retry-after': 'Wed, 21 Oct 2015 07:28:30 GMT' }),
    ).toBe(30_000);
    expect(await asked({ 'retry-after': 'soon' })).toBeNull();
  });
});

it('tool names that endpoints refuse go out changed and come back as they were', async () => {
  const call = { index: 0, id: 'x', function: { name: 'files_read', arguments: '{}' } };
  await using provider = await startProvider(() =>
    stream(sse({ choices: [{ delta: { tool_calls: [call] }, finish_reason: 'tool_calls' }] })),
  );
  const turn = turnOf(
    await adapter().call(request(openAiRoute(provider.url), { tools: [tool('files.read')] })),
  );
  expect(turn.toolCalls[0]?.tool).toBe('files.read');
  expect(provider.received[0]?.text).toContain('"name":"files_read"');
});

it('an endpoint without credential gets none, and headers of the route are sent', async () => {
  await using provider = await startProvider(() => stream(kinds[0][2]));
  const route = {
    ...openAiRoute(''),
    provider: { kind: 'openai-compatible' as const, baseUrl: provider.url, headers: { 'x-team': 'a' } },
  };
  turnOf(await adapter().call(request(route)));
  expect(provider.received[0]?.headers['authorization']).toBeUndefined();
  expect(provider.received[0]?.headers['x-team']).toBe('a');
});
