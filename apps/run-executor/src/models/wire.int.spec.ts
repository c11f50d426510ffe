import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { anthropicRoute, KEY, openAiRoute, request, startProvider, type FakeAnswer } from './fake-provider';
import { createModelAdapter } from './model.adapter';
import { fieldsOf, listOf, parseJson, textOf, type Fields } from './wire-json';

jest.setTimeout(120_000);

/**
 * Every recorded exchange with a real provider, served again to the adapter: an answer must be read without loss, as a
 * plain parse of its body in this file shows, and everything else must end in the failure that its status or body means.
 */
interface Exchange {
  name: string;
  api: 'chat-completions' | 'messages' | 'other';
  answer: FakeAnswer;
}

/** What a plain parse finds; null: the body is no complete answer. */
interface Reference {
  text: string | null;
  reasoning: string;
  calls: (readonly [string, string, string])[];
  reason: string;
  usage: { input: number; output: number; cached: number } | null;
}

const data = process.env['RUNYARD_DATA'];
const files = (under: string): string[] =>
  readdirSync(under, { recursive: true, encoding: 'utf8' })
    .map((file) => path.join(under, file))
    .sort();

/** The rule which exchanges are the adapter's: by the path that was called. Others are counted as not applicable. */
const apiOf = (pathname: string): Exchange['api'] =>
  pathname.endsWith('/chat/completions')
    ? 'chat-completions'
    : pathname === '/v1/messages'
      ? 'messages'
      : 'other';

function cassettes(folder: string): Exchange[] {
  return files(folder)
    .filter((file) => file.endsWith('.yaml'))
    .flatMap((file) => {
      const interactions = listOf(fieldsOf(parse(readFileSync(file, 'utf8')))?.['interactions']);
      return interactions.map((value, number): Exchange => {
        const { request: asked, response } = fieldsOf(value) as Record<string, Fields>;
        const body = response?.['parsed_body'] ?? fieldsOf(response?.['body'])?.['string'] ?? '';
        return {
          name: `${path.basename(file, '.yaml')} ${number + 1}`,
          api: apiOf(new URL(String(asked?.['uri'])).pathname),
          answer: {
            status: Number(fieldsOf(response?.['status'])?.['code']),
            headers: headersOf(fieldsOf(response?.['headers']) ?? {}),
            body: [typeof body === 'string' ? body : JSON.stringify(body)],
          },
        };
      });
    });
}

/** The recorder stored bodies unpacked and whole, so what described the packing no longer holds. */
function headersOf(recorded: Fields): Record<string, string> {
  const packing = ['content-length', 'transfer-encoding', 'content-encoding', 'connection'];
  const headers = Object.entries(recorded).map(([name, values]) => [
    name.toLowerCase(),
    String(listOf(values)[0] ?? values),
  ]);
  return Object.fromEntries(headers.filter(([name]) => !packing.includes(name ?? '')));
}

/** Fixtures hold a body each, or one event a line; which API they belong to shows in the body. */
function fixtures(folder: string): Exchange[] {
  return files(folder)
    .filter((file) => /__fixtures__.*\.(json|chunks\.txt)$/.test(file))
    .flatMap((file) => {
      const content = readFileSync(file, 'utf8').trim();
      return file.endsWith('.txt')
        ? answersIn(content.split('\n')).map((lines, n) =>
            fixture(`${file} ${n + 1}`, lines[0] ?? '', sseOf(lines)),
          )
        : [fixture(file, content, content)];
    });
}

function fixture(file: string, first: string, body: string): Exchange {
  const fields = fieldsOf(parseJson(first)) ?? {};
  const chat =
    String(fields['object']).startsWith('chat.completion') || (fields['error'] && file.includes('/chat/'));
  const message = fields['type'] === 'message' || fields['type'] === 'message_start';
  return {
    name: path.basename(file),
    api: chat ? 'chat-completions' : message ? 'messages' : 'other',
    answer: { status: fields['error'] ? 400 : 200, body: [body] },
  };
}

const sseOf = (lines: string[]): string => lines.map((line) => `data: ${line}\n\n`).join('');

/** Some files hold the answers of several requests, one after the other. */
function answersIn(lines: string[]): string[][] {
  const answers: string[][] = [[]];
  for (const line of lines) {
    answers.at(-1)?.push(line);
    if (line === '{"type":"message_stop"}') answers.push([]);
  }
  return answers.filter((answer) => answer.length > 0);
}

const eventsOf = (body: string): Fields[] =>
  body
    .split(/\r?\n/)
    .filter((line) => line.startsWith('data:') && !line.includes('[DONE]'))
    .map((line) => fieldsOf(parseJson(line.slice(5))) ?? {});

function chatReference(body: string): Reference | null {
  const whole = fieldsOf(parseJson(body));
  const chunks = whole ? [whole] : eventsOf(body);
  const choices = chunks
    .map((chunk) => fieldsOf(listOf(chunk['choices'])[0]))
    .filter((choice) => choice !== null);
  const messages = choices.map((choice) => fieldsOf(choice['delta'] ?? choice['message']) ?? {});
  const texts = messages.flatMap(({ content, refusal }) => [
    ...(typeof content === 'string' ? [content] : []),
    ...listOf(content)
      .filter((part) => fieldsOf(part)?.['type'] === 'text')
      .map((part) => String(fieldsOf(part)?.['text'])),
    ...(typeof refusal === 'string' && refusal !== '' ? [refusal] : []),
  ]);
  const thoughts = messages.flatMap(({ reasoning_content: own, reasoning, content }) => [
    textOf(own ?? reasoning) ?? '',
    ...listOf(content).flatMap((part) =>
      listOf(fieldsOf(part)?.['thinking']).map((thought) => String(fieldsOf(thought)?.['text'])),
    ),
  ]);
  const calls: [string, string, string][] = [];
  for (const [n, part] of messages.flatMap((message) => [...listOf(message['tool_calls']).entries()])) {
    const { id, index, function: called } = fieldsOf(part) ?? {};
    const at = typeof index === 'number' && !whole ? index : n;
    const call = (calls[at] ??= ['', '', '']);
    call[0] ||= textOf(id) ?? '';
    call[1] ||= textOf(fieldsOf(called)?.['name']) ?? '';
    call[2] += textOf(fieldsOf(called)?.['arguments']) ?? '';
  }
  const reason = choices.map((choice) => textOf(choice['finish_reason'])).findLast((word) => word !== null);
  const usage = chunks
    .map((chunk) => fieldsOf(chunk['usage'] ?? fieldsOf(chunk['x_groq'])?.['usage']))
    .findLast((found) => found !== null);
  if (reason === undefined || reason === null) return null;
  return {
    text: texts.length > 0 ? texts.join('') : null,
    reasoning: thoughts.join(''),
    calls,
    reason,
    usage: usage ? chatUsage(usage) : null,
  };
}

function chatUsage(usage: Fields): Reference['usage'] {
  const [input, completion, total] = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((name) =>
    Number(usage[name]),
  );
  // What the provider calls total is what it charges.
  return {
    input: input ?? 0,
    output: Math.max(completion ?? 0, (total ?? 0) - (input ?? 0)),
    cached: Number(fieldsOf(usage['prompt_tokens_details'])?.['cached_tokens'] ?? 0),
  };
}

function messageReference(body: string): Reference | null {
  const whole = fieldsOf(parseJson(body));
  const events = whole ? [] : eventsOf(body);
  const ids = new Set(
    events.filter(({ type }) => type === 'message_start').map((event) => fieldsOf(event['message'])?.['id']),
  );
  if (ids.size > 1 || (!whole && events.at(-1)?.['type'] !== 'message_stop')) return null;
  const blocks = whole
    ? listOf(whole['content']).map((block) => fieldsOf(block) ?? {})
    : streamedBlocks(events);
  const texts = blocks.filter(({ type }) => type === 'text').map((block) => String(block['text']));
  const calls = blocks
    .filter(({ type }) => type === 'tool_use')
    .map(
      (block) =>
        [
          String(block['id']),
          String(block['name']),
          typeof block['input'] === 'string' ? block['input'] : JSON.stringify(block['input']),
        ] as const,
    );
  const thoughts = blocks.filter(({ type }) => type === 'thinking').map((block) => String(block['thinking']));
  const last = events.findLast(({ type }) => type === 'message_delta');
  const reason = whole ? whole['stop_reason'] : fieldsOf(last?.['delta'])?.['stop_reason'];
  const start = fieldsOf(fieldsOf(events[0]?.['message'])?.['usage']);
  const usage = fieldsOf((whole ?? last)?.['usage']) ?? {};
  const charged = 'input_tokens' in usage ? usage : { ...start, ...usage };
  return {
    text: texts.length > 0 ? texts.join('') : null,
    reasoning: thoughts.join(''),
    calls,
    reason: String(reason),
    usage: messageUsage(charged),
  };
}

function messageUsage(usage: Fields): Reference['usage'] {
  const [fresh = 0, written = 0, cached = 0, output = 0] = [
    'input_tokens',
    'cache_creation_input_tokens',
    'cache_read_input_tokens',
    'output_tokens',
  ].map((name) => Number(usage[name] ?? 0));
  return { input: fresh + written + cached, output, cached };
}

function streamedBlocks(events: Fields[]): Fields[] {
  const blocks: Record<string, unknown>[] = [];
  for (const event of events) {
    const at = Number(event['index']);
    if (event['type'] === 'content_block_start') {
      const block = fieldsOf(event['content_block']) ?? {};
      blocks[at] = { ...block, ...(block['type'] === 'tool_use' ? { input: '' } : {}) };
    }
    const delta = fieldsOf(event['delta']);
    const block = blocks[at];
    if (block && delta?.['type'] === 'text_delta')
      block['text'] = String(block['text']) + String(delta['text']);
    if (block && delta?.['type'] === 'thinking_delta')
      block['thinking'] = String(block['thinking']) + String(delta['thinking']);
    if (block && delta?.['type'] === 'input_json_delta')
      block['input'] = String(block['input']) + String(delta['partial_json']);
  }
  return blocks.filter((block) => block !== undefined);
}

const adapter = createModelAdapter({
  secrets: () => KEY,
  recordings: () => Promise.reject(new Error('none')),
});

/** Serves one exchange to the adapter and returns its class. */
async function check({ api, answer }: Exchange): Promise<string> {
  if (api === 'other') return 'not applicable: another API';
  await using provider = await startProvider(() => answer);
  const route = api === 'messages' ? anthropicRoute(provider.url) : openAiRoute(provider.url);
  const result = await adapter.call(request(route));
  const body = String(answer.body[0]);
  const ok = (answer.status ?? 200) < 300;
  const expected = ok ? (api === 'messages' ? messageReference(body) : chatReference(body)) : null;
  if (!expected) {
    expect(result).toMatchObject({ ok: false, failure: { status: answer.status ?? 200 } });
    if (result.ok) return 'unreachable';
    if (!ok) expect(result.failure.code).toBe(answer.status === 429 ? 'rate_limited' : 'provider_invalid');
    return `${api}: declared failure ${result.failure.code} (status ${result.failure.status})`;
  }
  if (!result.ok) throw new Error(result.failure.text);
  const { turn } = result;
  expect({
    text: turn.text,
    reasoning: turn.reasoning ?? '',
    calls: turn.toolCalls.map((call) => [call.providerCallId, call.tool, call.arguments]),
    reason: turn.providerReason,
    usage: expected.usage && {
      input: turn.usage.input,
      output: turn.usage.output,
      cached: turn.usage.cached,
    },
    estimated: turn.usage.estimated,
  }).toEqual({ ...expected, estimated: expected.usage === null });
  return `${api}: ${body.trimStart().startsWith('{') ? 'whole' : 'streamed'} answer, finish ${turn.finish}`;
}

if (data === undefined) {
  process.stdout.write(
    'RUNYARD_DATA is not set: recorded provider traffic is left out (README, "Data", says how to get it).\n',
  );
  it('leaves recorded provider traffic out', () => expect(data).toBeUndefined());
} else {
  describe('recorded provider traffic', () => {
    const sources: [string, Exchange[]][] = [
      ['pydantic-ai', cassettes(path.join(data, 'wire/pydantic-ai'))],
      ['vercel-ai', fixtures(path.join(data, 'wire/vercel-ai'))],
    ];
    const counts = new Map<string, number>();

    it.each(sources)(
      '%s: every exchange is read without loss or fails as declared',
      async (_, exchanges) => {
        const faults: string[] = [];
        for (const exchange of exchanges) {
          const found = await check(exchange).catch(
            (error: unknown) => `FAULT ${exchange.name}: ${String(error)}`,
          );
          if (found.startsWith('FAULT')) faults.push(found);
          else counts.set(found, (counts.get(found) ?? 0) + 1);
        }
        expect(faults).toEqual([]);
        expect(exchanges.length).toBeGreaterThan(50);
      },
      60_000,
    );

    afterAll(() => {
      const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
      const lines = [...counts]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([kind, count]) => `  ${String(count).padStart(4)}  ${kind}`);
      process.stdout.write(`Recorded exchanges: ${total}\n${lines.join('\n')}\n`);
    });
  });
}
