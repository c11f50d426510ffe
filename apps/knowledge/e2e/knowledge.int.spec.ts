import { randomUUID } from 'node:crypto';
import type { Caller, DocumentRow, ReadAnswer, SearchAnswer, SourcesAnswer } from '@runyard/contracts';
import { MAX_DOCUMENT_BYTES } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { KNOWLEDGE_PROJECTIONS } from '../src/projections';
import { KnowledgeFixture } from './fixture';

jest.setTimeout(120_000);

describe('the knowledge store', () => {
  let world: KnowledgeFixture;
  let org: string;
  let owner: Caller;
  let reader: Caller;
  let admin: Caller;
  beforeAll(async () => {
    world = await KnowledgeFixture.start();
  });
  afterAll(() => world?.stop());
  beforeEach(async () => {
    org = randomUUID();
    [owner, reader, admin] = await Promise.all([
      world.person(org),
      world.person(org),
      world.person(org, ['admin']),
    ]);
  });

  const upload = (caller: Caller, input: object = {}) =>
    world.call<DocumentRow>('documents.upload', caller, {
      document_id: 'refunds',
      title: 'Refund policy',
      source: 'wiki',
      content: 'Tickets are refunded within fourteen days.\n\nAfter that a voucher is issued.',
      ...input,
    });
  const share = (access: object, caller = owner) =>
    world.call<DocumentRow>('documents.share', caller, { document_id: 'refunds', ...access });
  const found = async (caller: Caller, query = 'refunded tickets') =>
    (await world.call<SearchAnswer>('knowledge.search', caller, { query })).results.map(
      ({ document_id }) => document_id,
    );

  test('finds passages by their words and stems, best first, and reads on from there', async () => {
    await upload(owner);
    await upload(owner, {
      document_id: 'other',
      title: 'Catering',
      content: 'Meals are refundable only in part.',
    });
    const { results } = await world.call<SearchAnswer>('knowledge.search', owner, {
      query: 'refund a ticket',
    });
    expect(results.map(({ document_id }) => document_id)).toEqual(['refunds', 'other']);
    expect(results[0]).toEqual({
      document_id: 'refunds',
      title: 'Refund policy',
      source: 'wiki',
      offset: 0,
      text: expect.stringContaining('fourteen days'),
    });
    const read = await world.call<ReadAnswer>('knowledge.read', owner, {
      document_id: 'refunds',
      offset: 12,
      length: 12,
    });
    expect(read).toMatchObject({ text: 'refunded wit', offset: 12, next_offset: 24, characters: 75 });
    const { data } = await world.call<SourcesAnswer>('knowledge.sources', owner, {});
    expect(data.map(({ document_id, source }) => [source, document_id])).toEqual([
      ['wiki', 'other'],
      ['wiki', 'refunds'],
    ]);
  });

  test('words that stand together, and words that must not occur', async () => {
    await upload(owner);
    await upload(owner, { document_id: 'other', title: 'Other', content: 'Days of fourteen tickets.' });
    expect(await found(owner, '"fourteen days"')).toEqual(['refunds']);
    expect(await found(owner, 'fourteen -voucher')).toEqual(['other']);
  });

  test.each([
    ['a person', (id: string) => ({ users: [id] }), { users: [] }],
    ['everybody', () => ({ everyone: true }), { everyone: false }],
  ])(
    'shared with %s: read at the next call, and no longer at the one after the right is revoked',
    async (_name, grant, revoke) => {
      await upload(owner);
      expect(await found(reader)).toEqual([]);
      await share(grant(reader.userId ?? ''));
      expect(await found(reader)).toEqual(['refunds']);
      expect(await world.codeOf('knowledge.read', reader, { document_id: 'refunds' })).toBe('ok');
      await share(revoke);
      expect(await found(reader)).toEqual([]);
      expect(await world.codeOf('knowledge.read', reader, { document_id: 'refunds' })).toBe('not_found');
      expect((await world.call<SourcesAnswer>('knowledge.sources', reader)).data).toEqual([]);
      expect(await found(owner)).toEqual(['refunds']);
    },
  );

  test('shared with a group: who joins reads, who leaves does not, and the group’s end is the right’s end', async () => {
    await upload(owner);
    await world.call('groups.create', admin, { group_id: 'support', name: 'Support' });
    await share({ groups: ['support'] });
    const membership = { group_id: 'support', user_id: reader.userId };
    for (let times = 0; times < 3; times++) {
      expect(await found(reader)).toEqual([]);
      await world.call('groups.add_member', admin, membership);
      expect(await found(reader)).toEqual(['refunds']);
      await world.call('groups.remove_member', admin, membership);
    }
    await world.call('groups.add_member', admin, membership);
    expect(await found(reader)).toEqual(['refunds']);
    const { position } = await world.call<{ position: string }>('groups.delete', admin, {
      group_id: 'support',
    });
    expect(await found(reader)).toEqual([]);
    expect(await world.codeOf('groups.create', admin, { group_id: 'support', name: 'Support' })).toBe(
      'already_exists',
    );
    expect(await world.codeOf('groups.get', admin, { group_id: 'support', at_least: position })).toBe(
      'not_found',
    );
  });

  test('an admin’s agent reads what its owner may read, and no more', async () => {
    await upload(owner);
    expect(await found(admin)).toEqual([]);
    const { position } = await share({ users: [] });
    const page = { at_least: position };
    expect(await world.call('documents.list', admin, page)).toMatchObject({
      data: [{ document_id: 'refunds' }],
    });
    expect(await world.call('documents.list', reader, page)).toMatchObject({ data: [] });
  });

  test('who is deactivated or gone reads nothing any more', async () => {
    await upload(owner, { access: { everyone: true } });
    const userId = reader.userId ?? '';
    expect(await found(reader)).toEqual(['refunds']);
    await world.tell(org, userId, [{ type: 'UserDeactivated', data: { userId } }]);
    expect(await world.codeOf('knowledge.search', reader, { query: 'tickets' })).toBe('owner_inactive');
    await world.tell(org, userId, [{ type: 'UserReactivated', data: { userId } }]);
    expect(await found(reader)).toEqual(['refunds']);
    await world.tell(org, userId, [{ type: 'UserDeleted', data: { userId } }]);
    expect(await world.codeOf('knowledge.sources', reader)).toBe('owner_inactive');
  });

  test('another org finds, reads, lists and changes nothing, with the same ids and words', async () => {
    await upload(owner, { access: { everyone: true } });
    const elsewhere = await world.person(randomUUID(), ['admin']);
    expect(await found(elsewhere)).toEqual([]);
    for (const method of ['documents.get', 'documents.delete', 'knowledge.read'])
      expect(await world.codeOf(method, elsewhere, { document_id: 'refunds' })).toBe('not_found');
    expect(
      await world.codeOf('documents.share', elsewhere, { document_id: 'refunds', users: [owner.userId] }),
    ).toBe('invalid_request');
    await upload(elsewhere, { content: 'Tickets refunded elsewhere.' });
    expect(await found(owner)).toEqual(['refunds']);
    const { text } = await world.call<ReadAnswer>('knowledge.read', owner, { document_id: 'refunds' });
    expect(text).toContain('fourteen');
  });

  test('the service’s own role sees one org at a time, in tables and in the search', async () => {
    const { position } = await upload(owner, { access: { everyone: true } });
    await world.call('documents.get', owner, { document_id: 'refunds', at_least: position });
    const db = world.servers.database.connect('knowledge');
    const counts = (of: string) =>
      db.inOrg(of, async (tx) => {
        const [row] = await tx.query<{ documents: number; passages: number; hits: number }>(
          `SELECT (SELECT count(*)::int FROM documents) AS documents, (SELECT count(*)::int FROM passages) AS passages,
             (SELECT count(*)::int FROM search_passages('ticket', 'ticket', $1, 20)) AS hits`,
          [owner.userId],
        );
        return row;
      });
    expect(await counts(org)).toEqual({ documents: 1, passages: 1, hits: 1 });
    expect(await counts(randomUUID())).toEqual({ documents: 0, passages: 0, hits: 0 });
  });

  test('a changed text is found by its new words alone; a deleted document not at all', async () => {
    await upload(owner);
    const { etag } = await world.call<DocumentRow>('documents.update', owner, {
      document_id: 'refunds',
      content: 'Luggage weighs twenty kilograms.',
    });
    expect(await found(owner, 'voucher')).toEqual([]);
    expect(await found(owner, 'luggage')).toEqual(['refunds']);
    expect(
      await world.codeOf('documents.update', owner, { document_id: 'refunds', title: 'B', if_match: '1.1' }),
    ).toBe('version_mismatch');
    await world.call('documents.delete', owner, { document_id: 'refunds', if_match: etag });
    expect(await found(owner, 'luggage')).toEqual([]);
    const again = await upload(owner);
    expect(again.etag).toBe('2.1');
    const got = await world.call<DocumentRow>('documents.get', owner, {
      document_id: 'refunds',
      at_least: again.position,
    });
    expect(got.etag).toBe('2.1');
  });

  test.each([
    ['an empty query', 'knowledge.search', { query: '  ' }, 'invalid_request'],
    ['no query', 'knowledge.search', {}, 'invalid_request'],
    ['a query of signs', 'knowledge.search', { query: '&|!()<->:*\'"' }, 'ok'],
    ['a query that is an attack', 'knowledge.search', { query: "'; DROP TABLE documents; --" }, 'ok'],
    ['a NUL in a query', 'knowledge.search', { query: 'a\0b' }, 'invalid_request'],
    ['too many passages', 'knowledge.search', { query: 'a', limit: 1_000 }, 'invalid_request'],
    ['a document that is none', 'knowledge.read', { document_id: 'nowhere' }, 'not_found'],
    ['an id that is none', 'knowledge.read', { document_id: '../etc' }, 'invalid_request'],
    ['an offset beyond all', 'knowledge.read', { document_id: 'refunds', offset: -1 }, 'invalid_request'],
    ['a cursor that is none', 'knowledge.sources', { cursor: 'x' }, 'invalid_cursor'],
    ['an empty text', 'documents.upload', { title: 'T', content: ' \n' }, 'invalid_request'],
    ['an overlong title', 'documents.upload', { title: 'T'.repeat(301), content: 'x' }, 'invalid_request'],
    [
      'an unknown language',
      'documents.upload',
      { title: 'T', content: 'x', language: 'klingon' },
      'invalid_request',
    ],
    [
      'a reader who is nobody',
      'documents.upload',
      { title: 'T', content: 'x', access: { users: [randomUUID()] } },
      'invalid_request',
    ],
    [
      'a group that is none',
      'documents.upload',
      { title: 'T', content: 'x', access: { groups: ['none'] } },
      'invalid_request',
    ],
  ])('%s', async (_name, method, input, code) => {
    expect(await world.codeOf(method, owner, input)).toBe(code);
  });

  test('a text too large for one message is refused, the largest one is stored and searched', async () => {
    const words = 'needle '.repeat(Math.floor(MAX_DOCUMENT_BYTES / 7));
    expect(await world.codeOf('documents.upload', owner, { title: 'T', content: `${words}needle` })).toBe(
      'invalid_request',
    );
    const row = await upload(owner, { content: words });
    expect(row.bytes).toBe(words.length);
    expect((await found(owner, 'needle')).length).toBe(5);
    expect(await world.codeOf('documents.upload', owner, { title: 'T', content: '字'.repeat(200_000) })).toBe(
      'invalid_request',
    );
  });

  test('odd text is stored with its odd characters replaced, and reads as text', async () => {
    const odd = `NUL \0 and half \uD83D of a pair, 😀 \u202E backwards, ${'z'.repeat(5_000)} end`;
    const row = await upload(owner, { content: odd });
    expect(row).toMatchObject({ replaced_characters: 2 });
    const { text } = await world.call<ReadAnswer>('knowledge.read', owner, { document_id: 'refunds' });
    expect(text).toBe(odd.replaceAll(/\0|\uD83D(?![\uDC00-\uDFFF])/g, '\uFFFD'));
    expect(await found(owner, 'backwards')).toEqual(['refunds']);
  });

  test('a key of an application reads nothing: it has no rights of a person', async () => {
    const application: Caller = { org, actor: 'service:key_1', userId: null, roles: ['member', 'admin'] };
    expect(await world.codeOf('knowledge.search', application, { query: 'x' })).toBe('forbidden');
  });

  test('speaks the Model Context Protocol in the caller’s name', async () => {
    await upload(owner);
    const ask = async (caller: Caller, message: object) =>
      (await world.call<{ message: unknown }>('knowledge.mcp', caller, { jsonrpc: '2.0', ...message }))
        .message;
    expect(
      await ask(owner, { id: 1, method: 'initialize', params: { protocolVersion: '2024-11-05' } }),
    ).toMatchObject({
      id: 1,
      result: { protocolVersion: '2024-11-05', capabilities: { tools: {} } },
    });
    expect(await ask(owner, { method: 'notifications/initialized' })).toBeNull();
    const search = {
      method: 'tools/call',
      params: { name: 'knowledge_search', arguments: { query: 'voucher' } },
    };
    const texts = async (caller: Caller) =>
      (await ask(caller, { id: 'a', ...search })) as { result: { content: { text: string }[] } };
    expect((await texts(owner)).result.content[0]?.text).toContain('refunds');
    expect((await texts(reader)).result.content[0]?.text).not.toContain('refunds');
    expect(
      await ask(owner, { id: 2, method: 'tools/call', params: { name: 'knowledge_read', arguments: {} } }),
    ).toMatchObject({
      result: { isError: true },
    });
    expect(await ask(owner, { id: 3, method: 'tools/call', params: { name: 'rm' } })).toMatchObject({
      error: { code: -32602 },
    });
    expect(await ask(owner, { id: 4, method: 'resources/list' })).toMatchObject({ error: { code: -32601 } });
  });

  test('rows are what the log gives', async () => {
    await upload(owner);
    await share({ users: [reader.userId], everyone: true });
    expect(await found(reader)).toEqual(['refunds']);
    for (const { projection, schema, tables } of KNOWLEDGE_PROJECTIONS) {
      const source = streamSource(world.servers.bus.log, 'AGENTS');
      const verified = await rebuildAndCompare({
        ownerUrl: world.servers.database.ownerUrl,
        schema,
        tables,
        projection,
        source,
      });
      expect(verified.tables.map(({ table, missing, extra }) => [table, missing, extra])).toEqual(
        tables.map((table) => [table, 0, 0]),
      );
    }
  });
});
