// Streams that end early, through the whole product into the ledger: cancelled and broken work is not free.
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { eventually } from '@runyard/testing';
import { World } from './world';

jest.setTimeout(180_000);

const DELTAS = 400;
const TEXT = 'word ';
const DELIVERED = DELTAS * TEXT.length;

const frame = (data: { type: string }): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
const delta = { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: TEXT } };
const BEGINNING = [
  {
    type: 'message_start',
    message: {
      id: 'msg',
      type: 'message',
      role: 'assistant',
      model: 'streaming',
      content: [],
      usage: { input_tokens: 25, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ...Array.from({ length: DELTAS }, () => delta),
];
const END = [
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 410 } },
  { type: 'message_stop' },
];

/** A provider that tells its input at once and its output at the end, which it does not always reach. */
class Provider {
  readonly open: ServerResponse[] = [];
  then: 'hang' | 'reset' | 'end' = 'end';
  private readonly server: Server = createServer((request, response) => {
    request.resume();
    request.on('end', () => this.answer(response));
  });

  async start(): Promise<string> {
    await new Promise<void>((listening) => this.server.listen(0, '127.0.0.1', listening));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  private answer(response: ServerResponse): void {
    const how = this.then;
    this.then = how === 'reset' ? 'end' : how;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(BEGINNING.map(frame).join(''), () => {
      this.open.push(response);
      if (how === 'end') response.end(END.map(frame).join(''));
      if (how === 'reset') setTimeout(() => response.destroy(), 200);
    });
  }
}

const provider = new Provider();
let world: World;
beforeAll(async () => {
  world = await World.open({ recordings: {} });
  const secrets = join(world.platform.folders.secrets, world.org);
  mkdirSync(secrets, { recursive: true });
  writeFileSync(join(secrets, 'key'), 'opens-nothing');
  await world.api.call('POST', '/v1/models', {
    model_id: 'streaming',
    label: 'streaming',
    tier: 'fast',
    provider: { kind: 'anthropic', base_url: await provider.start(), credential: 'key' },
    model: 'streaming',
    context_window: 100_000,
    max_output_tokens: 4_000,
  });
  for (const name of ['cancelled', 'broken']) await world.agent(name, 'streaming');
});
afterAll(async () => {
  provider.stop();
  await world?.close();
});

interface Spend {
  calls: number;
  input_tokens: number;
  output_tokens: number;
  estimated_tokens: number;
}

/** What the ledger has of an agent's runs, once they are settled. */
const spent = (agent: string) =>
  eventually(
    async () => {
      const { data } = await world.api.call<{ data: Spend[] }>(
        'GET',
        `/v1/spend?agent_id=${agent}&group_by=model`,
      );
      return data[0];
    },
    { withinMs: 30_000 },
  );

test('C32 a stream that a person cancels is booked once, with what was delivered (BerriAI/litellm#14457)', async () => {
  provider.then = 'hang';
  const { run_id } = await world.api.call<{ run_id: string }>('POST', '/v1/runs', {
    agent_id: 'cancelled',
    input: 'Tell me a lot',
  });
  await eventually(() => provider.open.length === 1, { withinMs: 30_000 });
  // Written is not yet read; the executor must have the frames before it breaks the stream off.
  await new Promise((resolve) => setTimeout(resolve, 2_000));
  expect((await world.runyard('runs', 'cancel', run_id, '--wait', '30')).out).toEqual([
    `${run_id} cancelled`,
  ]);
  const spend = await spent('cancelled');
  expect(spend).toMatchObject({ calls: 1, input_tokens: 25 });
  expect(spend.output_tokens).toBeGreaterThan(DELIVERED * 0.8);
  expect(spend.output_tokens).toBeLessThan(DELIVERED * 1.2);
  expect(spend.estimated_tokens).toBe(spend.input_tokens + spend.output_tokens);
});

test('C32 one that is reset before its usage is booked beside the attempt that followed (BerriAI/litellm#14457)', async () => {
  provider.then = 'reset';
  await world.ran('broken', 'Tell me a lot');
  const spend = await spent('broken');
  expect(spend).toMatchObject({ calls: 2, input_tokens: 50 });
  const broken = spend.output_tokens - 410;
  expect(broken).toBeGreaterThan(DELIVERED * 0.8);
  expect(broken).toBeLessThan(DELIVERED * 1.2);
  expect(spend.estimated_tokens).toBe(25 + broken);
  expect((await world.runyard('audit')).code).toBe(0);
});
