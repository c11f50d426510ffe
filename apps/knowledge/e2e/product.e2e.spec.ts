import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { eventually, freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { ApiClient } from '../../../deploy/local/api-client';
import { Platform } from '../../../deploy/local/platform';
import { throwawayFolder } from '../../../deploy/local/throwaway';

jest.setTimeout(120_000);

interface RunRow {
  run_id: string;
  state: string;
  output: string | null;
}

const search = (query: string, more: object) => ({
  tool_calls: [{ id: 'c', tool: 'knowledge_search', arguments: JSON.stringify({ query }) }],
  usage: { input: 10, output: 5 },
  ...more,
});
const heard = { expect: [{ role: 'tool', any: true }] };
const RECORDING = {
  format: 'runyard-recording/1',
  model: 'recorded-model',
  dialogs: [
    {
      name: 'asks-twice',
      turns: [
        search('refund a ticket', { expect: [{ role: 'user', any: true }] }),
        // Waits for a person, so that the right is revoked between one search and the next.
        {
          ...heard,
          tool_calls: [{ id: 'h', tool: 'hold', arguments: '{"expression":"1+1"}' }],
          usage: { input: 10, output: 5 },
        },
        search('refund a ticket', heard),
        { ...heard, text: 'done', usage: { input: 10, output: 5 } },
      ],
    },
  ],
};

describe('knowledge over the whole product', () => {
  const folder = throwawayFolder('knowledge');
  let nats: TestNats;
  let db: TestDatabase;
  let platform: Platform;
  let admin: ApiClient;
  let member: ApiClient;
  let memberId: string;
  let memberKey: string;

  beforeAll(async () => {
    [nats, db] = await Promise.all([startNats(), freshDatabase()]);
    platform = await Platform.start({
      folder,
      durable: false,
      httpPort: 0,
      opsPort: null,
      logLevel: 'warn',
      databaseUrl: db.ownerUrl,
      natsUrl: nats.url,
      executor: {},
    });
    writeFileSync(join(platform.folders.recordings, 'asks.json'), JSON.stringify(RECORDING));
    const person = { email: 'ada@example.org', name: 'Ada' };
    const org = { name: 'Org', time_zone: 'Europe/Berlin', admin: person, key_label: 'first' };
    admin = new ApiClient(platform.apiUrl, (await platform.createOrg(org)).key.key);
    const user = await admin.call<{ user_id: string }>('POST', '/v1/users', {
      email: 'max@example.org',
      name: 'Max',
      roles: ['member'],
    });
    memberId = user.user_id;
    const { key } = await admin.call<{ key: string }>('POST', '/v1/keys', {
      label: 'Max',
      roles: ['member'],
      user_id: memberId,
    });
    memberKey = key;
    member = new ApiClient(platform.apiUrl, key);
    await admin.call('POST', '/v1/models', {
      model_id: 'asks',
      label: 'asks',
      tier: 'fast',
      provider: { kind: 'recorded', recording: 'asks.json' },
      model: 'recorded-model',
      context_window: 32_000,
    });
    await admin.call('POST', '/v1/tools', {
      name: 'hold',
      description: 'Waits for a person.',
      input_schema: { type: 'object', properties: { expression: { type: 'string' } } },
      effect: 'write',
      idempotent: true,
      source: { kind: 'builtin', name: 'calculate' },
    });
    await admin.call('POST', '/v1/documents', {
      document_id: 'refunds',
      title: 'Refund policy',
      content: 'Tickets are refunded within fourteen days.',
    });
    await admin.call('POST', '/v1/groups', { group_id: 'desk', name: 'Desk' });
    await admin.call('PUT', '/v1/documents/refunds/access', { groups: ['desk'] });
    await admin.call('PUT', `/v1/groups/desk/members/${memberId}`);
  });
  afterAll(async () => {
    await platform?.stop();
    await Promise.all([nats?.stop(), db?.drop()]);
    rmSync(folder, { recursive: true, force: true });
  });

  test('an agent reads as its owner, and a right that is revoked between two calls of a run holds no more', async () => {
    const clerk = { agent_id: 'clerk', name: 'Clerk', prompt: 'Help.', tools: ['hold'], mode: 'ask' };
    await member.call('POST', '/v1/agents', clerk);
    const started = await member.call<RunRow>('POST', '/v1/runs', { agent_id: 'clerk', input: 'May I?' });
    const steps = async () =>
      (
        await member.call<{ data: { tool: string }[] }>('GET', `/v1/runs/${started.run_id}/steps`)
      ).data.filter(({ tool }) => tool === 'knowledge_search');
    const asked = await eventually(
      async () =>
        (
          await admin.call<{ data: { approval_id: string }[] }>(
            'GET',
            `/v1/approvals?run_id=${started.run_id}`,
          )
        ).data[0],
      { withinMs: 60_000 },
    );
    await admin.call('DELETE', `/v1/groups/desk/members/${memberId}`);
    await admin.call('POST', `/v1/approvals/${asked.approval_id}/decision`, { verdict: 'approve' });
    await eventually(
      async () => (await member.call<RunRow>('GET', `/v1/runs/${started.run_id}`)).state === 'succeeded',
      { withinMs: 60_000 },
    );
    const [before, after] = (await steps()).map((step) => JSON.stringify(step));
    expect(before).toContain('fourteen days');
    expect(after).not.toContain('fourteen days');
    expect(after).toContain('No document that may be read');
  });

  test('the tools are a server of the Model Context Protocol, for any client, in its user’s name', async () => {
    await admin.call('PUT', `/v1/groups/desk/members/${memberId}`);
    const client = new Client({ name: 'spec', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${platform.apiUrl}/v1/knowledge/mcp`), {
      requestInit: { headers: { 'x-api-key': memberKey } },
    });
    await client.connect(transport);
    try {
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).toEqual([
        'knowledge_search',
        'knowledge_read',
        'knowledge_sources',
      ]);
      const call = () => client.callTool({ name: 'knowledge_read', arguments: { document_id: 'refunds' } });
      expect(JSON.stringify((await call()).content)).toContain('fourteen days');
      await admin.call('DELETE', `/v1/groups/desk/members/${memberId}`);
      expect(await call()).toMatchObject({ isError: true });
    } finally {
      await client.close();
    }
  });

  test('nobody takes a core tool’s name, and nobody links one: it is there already', async () => {
    const { core } = await member.call<{ core: { name: string }[] }>('GET', '/v1/tools');
    expect(core.map(({ name }) => name)).toContain('knowledge_search');
    const tool = { description: 'T', input_schema: { type: 'object' }, effect: 'read' };
    const source = { kind: 'builtin', name: 'calculate' };
    await expect(
      admin.call('POST', '/v1/tools', { name: 'knowledge_search', ...tool, source }),
    ).rejects.toThrow(/core tool/);
    const agent = { agent_id: 'linked', name: 'L', prompt: 'P', tools: ['knowledge_read'] };
    await expect(member.call('POST', '/v1/agents', agent)).rejects.toThrow(/core tool/);
  });
});
