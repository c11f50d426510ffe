import { createHash, randomUUID } from 'node:crypto';
import type {
  AgentRow,
  AgentVersionRow,
  VersionDiff,
  Caller,
  CreatedKey,
  KeyRow,
  ModelRow,
  ToolRow,
  UserRow,
} from '@runyard/contracts';
import { subjectOf } from '@runyard/contracts';
import type { EventLogConnection } from '@runyard/event-log';
import { archiveSource, rebuildAndCompare } from '@runyard/persistence';
import { eventually } from '@runyard/testing';
import { AGENT_REGISTRY_PROJECTIONS } from '../src/projections';
import { INSTALLATION, MODEL, RegistryFixture, TOOL, callerOf } from './fixture';
import type { Org } from './fixture';

jest.setTimeout(120_000);

const AGENT = { agent_id: 'helper', name: 'Helper', prompt: 'Help.' };
type Written<R> = R & { position: string };

describe('agent registry', () => {
  let fixture: RegistryFixture;
  let bus: EventLogConnection;
  let org: Org;
  let ada: Caller;

  beforeAll(async () => {
    fixture = await RegistryFixture.start();
    await fixture.run();
    bus = fixture.servers.bus;
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    org = await fixture.org();
    ada = org.admin;
    await fixture.call('models.allow', ada, { model_id: 'fast', ...MODEL });
    await fixture.call('tools.register', ada, { name: 'lookup', ...TOOL });
  });

  const create = (caller: Caller, more: object = {}) =>
    fixture.call<AgentRow>('agents.create', caller, { ...AGENT, ...more });
  const get = (caller: Caller, agentId = 'helper', atLeast?: string) =>
    fixture.call<AgentRow>('agents.get', caller, { agent_id: agentId, at_least: atLeast });
  const logOf = (id: string) => bus.log.read(subjectOf('agents', org.org.org_id, id));

  describe('agents', () => {
    it('answers a write with the state it decided, and reads the same at its position', async () => {
      const created = await create(ada, {
        tools: ['lookup'],
        bounds: { max_steps: 5 },
        meta: { team: 'a' },
        schedule: { type: 'interval', every_hours: 2 },
      });
      expect(created).toMatchObject({
        agent_version: 1,
        etag: '1.1',
        model_id: 'fast',
        tools: ['lookup'],
        enabled: true,
        admin_paused: false,
        start_conditions: [],
      });
      expect(await get(ada, 'helper', created.position)).toEqual(created);
      const revised = await fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'helper',
        prompt: 'Help more.',
        name: 'Helper 2',
        if_match: created.etag,
      });
      expect(revised).toMatchObject({
        agent_version: 2,
        etag: '2.3',
        prompt: 'Help more.',
        name: 'Helper 2',
      });
      expect(await get(ada, 'helper', revised.position)).toEqual(revised);
    });

    it('keeps every version readable and makes none where nothing changes', async () => {
      await create(ada);
      await fixture.call('agents.update', ada, { agent_id: 'helper', mode: 'auto' });
      const same = await fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'helper',
        mode: 'auto',
        name: 'Helper',
      });
      expect(same.agent_version).toBe(2);
      expect(await logOf('helper')).toHaveLength(2);
      const versions = await fixture.call<{ data: AgentVersionRow[] }>('agents.versions', ada, {
        agent_id: 'helper',
        at_least: same.position,
      });
      expect(versions.data.map(({ agent_version, mode }) => [agent_version, mode])).toEqual([
        [2, 'auto'],
        [1, 'ask'],
      ]);
      expect(await fixture.call('agents.version', ada, { agent_id: 'helper', version: 1 })).toMatchObject({
        mode: 'ask',
        created_by: `user:${ada.userId}`,
      });
    });

    it('refuses what does not fit, naming the field', async () => {
      const errors = async (input: object) =>
        (await fixture.refusal('agents.create', ada, { ...AGENT, ...input })).facts.errors;
      expect(await errors({ model_id: 'nope' })).toEqual([
        { pointer: '/model_id', detail: 'is not a model of the allowed list' },
      ]);
      expect(await errors({ tools: ['lookup', 'nope'] })).toEqual([
        { pointer: '/tools/1', detail: '"nope" is not a tool of the catalogue' },
      ]);
      expect(await errors({ bounds: { max_steps: 10_001 } })).toEqual([
        { pointer: '/bounds/max_steps', detail: 'must be at most 10000' },
      ]);
      expect(await errors({ schedule: { type: 'calendar', cadence: 'weekly', time: '08:00' } })).toEqual([
        { pointer: '/schedule/weekday', detail: 'is required for a weekly schedule' },
      ]);
      expect(await errors({ prompt: 'a\0b' })).toEqual([
        { pointer: '/prompt', detail: 'holds a NUL or an unpaired surrogate' },
      ]);
      expect(await errors({ agent_id: '*' })).toMatchObject([{ pointer: '/agent_id' }]);
      expect(await errors({ colour: 1 })).toEqual([
        { pointer: '/colour', detail: 'is not a known field; remove it' },
      ]);
    });

    it('has a switch of the owner and a lock of the admin, apart from each other, and says why it does not start', async () => {
      const max = await fixture.member(org);
      await create(max);
      expect((await fixture.refusal('agents.lock', max, { agent_id: 'helper' })).code).toBe('forbidden');
      expect((await fixture.refusal('agents.disable', ada, { agent_id: 'helper' })).code).toBe('forbidden');
      await fixture.call('agents.lock', ada, { agent_id: 'helper', reason: 'spends too much' });
      const off = await fixture.call<AgentRow>('agents.disable', max, {
        agent_id: 'helper',
        reason: 'holiday',
      });
      expect(off).toMatchObject({
        enabled: false,
        enabled_reason: 'holiday',
        admin_paused: true,
        admin_paused_by: `user:${ada.userId}`,
        admin_paused_reason: 'spends too much',
      });
      expect(off.start_conditions.map(({ code }) => code)).toEqual(['agent_disabled', 'agent_locked']);
      expect(await get(max, 'helper', off.position)).toEqual(off);
      const on = await fixture.call<AgentRow>('agents.enable', max, { agent_id: 'helper' });
      expect(on.start_conditions.map(({ code }) => code)).toEqual(['agent_locked']);
      expect(
        (await fixture.call<AgentRow>('agents.unlock', ada, { agent_id: 'helper' })).start_conditions,
      ).toEqual([]);
    });

    it('shows members their own agents and admins and operators all of the org', async () => {
      const [max, eve, op] = [
        await fixture.member(org),
        await fixture.member(org),
        await fixture.member(org, ['operator']),
      ];
      await create(max, { agent_id: 'a-max', name: 'A' });
      const last = await create(eve, { agent_id: 'b-eve', name: 'B' });
      const list = async (caller: Caller, more = {}) =>
        (
          await fixture.call<{ data: AgentRow[] }>('agents.list', caller, {
            at_least: last.position,
            ...more,
          })
        ).data.map(({ agent_id }) => agent_id);
      expect(await list(max, { owner_id: eve.userId })).toEqual(['a-max']);
      expect(await list(op)).toEqual(['a-max', 'b-eve']);
      expect(await list(ada, { owner_id: eve.userId })).toEqual(['b-eve']);
      expect(await list(ada, { search: 'max' })).toEqual(['a-max']);
      expect((await fixture.refusal('agents.get', max, { agent_id: 'b-eve' })).code).toBe('forbidden');
      expect((await fixture.refusal('agents.update', max, { agent_id: 'b-eve', name: 'Mine' })).code).toBe(
        'forbidden',
      );
      expect((await fixture.refusal('agents.update', op, { agent_id: 'b-eve', name: 'Mine' })).code).toBe(
        'forbidden',
      );
      expect((await fixture.refusal('agents.versions', max, { agent_id: 'b-eve' })).code).toBe('forbidden');
    });

    it('pages through a list without gap or double', async () => {
      for (const n of [3, 1, 2, 5, 4]) await create(ada, { agent_id: `a${n}`, name: `Agent ${n}` });
      const seen: string[] = [];
      const position = (await get(ada, 'a4').catch(() => undefined))?.position;
      await eventually(
        async () =>
          (await fixture.call<{ data: unknown[] }>('agents.list', ada, { at_least: position })).data
            .length === 5,
      );
      for (let cursor: string | undefined; ;) {
        const page = await fixture.call<{ data: AgentRow[]; next_cursor: string | null }>(
          'agents.list',
          ada,
          { limit: 2, cursor },
        );
        seen.push(...page.data.map(({ agent_id }) => agent_id));
        if (page.next_cursor === null) break;
        cursor = page.next_cursor;
      }
      expect(seen).toEqual(['a1', 'a2', 'a3', 'a4', 'a5']);
      for (const cursor of ['abc', btoa(encodeURIComponent('[1,2]'))])
        expect(await fixture.refusal('agents.list', ada, { cursor })).toMatchObject({
          code: 'invalid_cursor',
          facts: { errors: [expect.objectContaining({ pointer: '/cursor' })] },
        });
    });

    it('keeps the history of a deleted agent, and lets its former owner alone go on with its numbers', async () => {
      const max = await fixture.member(org);
      await create(max);
      await fixture.call('agents.update', max, { agent_id: 'helper', prompt: 'Two.' });
      const { position } = await fixture.call<{ position: string }>('agents.delete', max, {
        agent_id: 'helper',
      });
      expect(
        (await fixture.refusal('agents.get', max, { agent_id: 'helper', at_least: position })).code,
      ).toBe('not_found');
      expect(await fixture.call('agents.version', max, { agent_id: 'helper', version: 1 })).toMatchObject({
        prompt: 'Help.',
      });
      expect((await fixture.refusal('agents.create', ada, AGENT)).code).toBe('already_exists');
      expect(await create(max)).toMatchObject({ agent_version: 3, etag: '3.1' });
      const purged = await fixture.call<{ position: string }>('agents.delete', max, {
        agent_id: 'helper',
        history: 'purge',
      });
      expect(
        (
          await fixture.refusal('agents.version', max, {
            agent_id: 'helper',
            version: 1,
            at_least: purged.position,
          })
        ).code,
      ).toBe('not_found');
      expect(await create(ada)).toMatchObject({ agent_version: 4, owner_id: ada.userId });
    });
  });

  describe('catalogue', () => {
    it('preselects the default, and a removed model leaves fallbacks at once and agents moments later, for good', async () => {
      await fixture.call('models.allow', ada, {
        model_id: 'deep',
        ...MODEL,
        label: 'Deep',
        tier: 'deep',
        fallbacks: ['fast'],
        is_default: true,
      });
      expect((await create(ada)).model_id).toBe('deep');
      await create(ada, { agent_id: 'other', model_id: 'fast' });
      await fixture.call('models.remove', ada, { model_id: 'deep' });
      const cleared = await eventually(async () => {
        const row = await get(ada);
        return row.model_id === null && row;
      });
      expect(cleared).toMatchObject({
        agent_version: 1,
        start_conditions: [{ code: 'agent_without_model' }],
      });
      expect(await fixture.call('agents.version', ada, { agent_id: 'helper', version: 1 })).toMatchObject({
        model_id: 'deep',
      });
      await fixture.call('models.allow', ada, { model_id: 'deep', ...MODEL, label: 'Deep', tier: 'deep' });
      const chosen = await fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'helper',
        model_id: 'deep',
      });
      expect(chosen).toMatchObject({ agent_version: 2, model_id: 'deep', start_conditions: [] });
      expect((await get(ada, 'other')).model_id).toBe('fast');
      const removed = await fixture.call<{ position: string }>('models.remove', ada, { model_id: 'fast' });
      const { data } = await fixture.call<{ data: ModelRow[] }>('models.list', ada, {
        at_least: removed.position,
      });
      expect(
        data.map(({ model_id, is_default, fallbacks }) => ({ model_id, is_default, fallbacks })),
      ).toEqual([{ model_id: 'deep', is_default: false, fallbacks: [] }]);
    });

    it('unlinks a deleted tool and leaves a disallowed one linked', async () => {
      await fixture.call('tools.register', ada, { name: 'second', ...TOOL });
      await create(ada, { tools: ['second', 'lookup'] });
      const hidden = await fixture.call<Written<ToolRow>>('tools.update', ada, {
        name: 'second',
        agents_allowed: false,
      });
      expect(hidden.agents_allowed).toBe(false);
      const { position } = await fixture.call<{ position: string }>('tools.remove', ada, { name: 'lookup' });
      const row = await eventually(async () => {
        const agent = await get(ada);
        return agent.tools.length === 1 && agent;
      });
      expect(row).toMatchObject({ tools: ['second'], agent_version: 1, start_conditions: [] });
      const { data } = await fixture.call<{ data: ToolRow[] }>('tools.list', ada, { at_least: position });
      expect(data.map(({ name, agents_allowed }) => [name, agents_allowed])).toEqual([['second', false]]);
    });

    it('is changed by admins alone and refuses secrets and schemas that are none', async () => {
      const max = await fixture.member(org);
      const calls: [string, object][] = [
        ['models.allow', { model_id: 'x', ...MODEL }],
        ['models.remove', { model_id: 'fast' }],
        ['models.set_default', { model_id: 'fast' }],
        ['tools.register', { name: 'x', ...TOOL }],
        ['tools.remove', { name: 'lookup' }],
        ['platform_prompt.set', { prompt: 'x' }],
        ['platform_prompt.get', {}],
        ['users.add', { email: 'a@example.org', name: 'A' }],
        ['users.list', {}],
        ['orgs.update', { name: 'x' }],
      ];
      for (const [method, input] of calls)
        expect([method, (await fixture.refusal(method, max, input)).code]).toEqual([method, 'forbidden']);
      const http = { kind: 'http', method: 'GET', url: 'https://user:pw@example.org/' };
      expect(
        (await fixture.refusal('tools.register', ada, { name: 'x', ...TOOL, source: http })).facts.errors,
      ).toMatchObject([{ pointer: '/source/url' }]);
      const headers = { ...http, url: 'https://example.org/', headers: { Authorization: 'x' } };
      expect(
        (await fixture.refusal('tools.register', ada, { name: 'x', ...TOOL, source: headers })).facts.errors,
      ).toMatchObject([{ pointer: '/source/headers' }]);
      const schema = { type: 'object', properties: { q: { type: 'strin' } } };
      expect(
        (await fixture.refusal('tools.register', ada, { name: 'x', ...TOOL, input_schema: schema })).facts
          .errors,
      ).toMatchObject([{ pointer: '/input_schema/properties/q/type' }, {}, {}]);
    });

    it('keeps the platform prompt', async () => {
      const { position } = await fixture.call<{ position: string }>('platform_prompt.set', ada, {
        prompt: 'Be brief.',
      });
      expect(await fixture.call('platform_prompt.get', ada, { at_least: position })).toEqual({
        prompt: 'Be brief.',
      });
    });
  });

  describe('people', () => {
    const hashOf = (key: string) => createHash('sha256').update(key).digest('hex');
    const authenticate = (key: string) =>
      fixture.call('keys.authenticate', INSTALLATION, { hash: hashOf(key) });
    const refused = async (key: string) =>
      (await fixture.refusal('keys.authenticate', INSTALLATION, { hash: hashOf(key) })).facts.reason;

    it('makes an org with an admin and a key, for the installation alone', async () => {
      expect(org.key.key).toMatch(/^ry_live_[0-9A-Za-z]{43}_[0-9A-Za-z]{6}$/);
      expect(await authenticate(org.key.key)).toMatchObject({
        org_id: org.org.org_id,
        user_id: ada.userId,
        roles: ada.roles,
      });
      expect(
        (
          await fixture.refusal('orgs.create', ada, {
            name: 'x',
            admin: { email: 'a@example.org', name: 'A' },
          })
        ).code,
      ).toBe('forbidden');
      expect((await fixture.refusal('keys.authenticate', ada, { hash: hashOf('x') })).code).toBe('forbidden');
      const again = { org_id: org.org.org_id, name: 'x', admin: { email: 'a@example.org', name: 'A' } };
      expect((await fixture.refusal('orgs.create', INSTALLATION, again)).code).toBe('already_exists');
      expect(await fixture.call('orgs.get', ada)).toMatchObject({ name: 'Org', time_zone: 'Europe/Berlin' });
    });

    it('stores no key and refuses one that is unknown, revoked, expired or of somebody who left', async () => {
      const max = await fixture.member(org);
      const key = await fixture.call<CreatedKey>('keys.create', max, { label: 'laptop', roles: ['member'] });
      const soon = await fixture.call<CreatedKey>('keys.create', max, {
        label: 'soon',
        roles: ['member'],
        expires_at: new Date(Date.now() + 300).toISOString(),
      });
      expect(await authenticate(key.key)).toMatchObject({
        user_id: max.userId,
        roles: ['member'],
        label: 'laptop',
      });
      expect(
        JSON.stringify(await bus.log.read(subjectOf('people', org.org.org_id, `key-${key.key_id}`))),
      ).not.toContain(key.key);
      expect(await refused(`${key.key}x`)).toBe('unknown');
      await eventually(async () => (await refused(soon.key)) === 'expired');
      await fixture.call('users.deactivate', ada, { user_id: max.userId });
      expect(await refused(key.key)).toBe('user_inactive');
      await fixture.call('users.reactivate', ada, { user_id: max.userId });
      expect(await authenticate(key.key)).toMatchObject({ user_id: max.userId });
      const revoked = await fixture.call<KeyRow>('keys.revoke', max, { key_id: key.key_id });
      expect(revoked.revoked_at).not.toBeNull();
      expect(await refused(key.key)).toBe('revoked');
      const other = await fixture.call<CreatedKey>('keys.create', max, { label: 'phone', roles: ['member'] });
      await fixture.call('users.delete', ada, { user_id: max.userId });
      // With the person go the rows of their keys, which show name and label; until then the key names somebody who is gone.
      expect(['user_deleted', 'unknown']).toContain(await refused(other.key));
      await eventually(async () => (await refused(other.key)) === 'unknown');
    });

    it('gives a key no role that its creator lacks, and a user key none that its user lost', async () => {
      const eve = await fixture.member(org, ['member', 'reviewer']);
      expect((await fixture.refusal('keys.create', eve, { label: 'x', roles: ['admin'] })).code).toBe(
        'forbidden',
      );
      expect(
        (await fixture.refusal('keys.create', eve, { label: 'x', roles: ['member'], user_id: null })).code,
      ).toBe('forbidden');
      expect(
        (await fixture.refusal('keys.create', eve, { label: 'x', roles: ['member'], user_id: ada.userId }))
          .code,
      ).toBe('forbidden');
      // A new member's first key: it never has a role that the member lacks.
      const first = await fixture.call<CreatedKey>('keys.create', ada, {
        label: 'first',
        roles: ['member', 'admin'],
        user_id: eve.userId,
      });
      expect(await authenticate(first.key)).toMatchObject({ user_id: eve.userId, roles: ['member'] });
      await fixture.call('keys.revoke', eve, { key_id: first.key_id });
      const key = await fixture.call<CreatedKey>('keys.create', eve, {
        label: 'x',
        roles: ['member', 'reviewer'],
      });
      await fixture.call('users.update', ada, { user_id: eve.userId, roles: ['member'] });
      expect(await authenticate(key.key)).toMatchObject({ roles: ['member'] });
      const app = await fixture.call<CreatedKey>('keys.create', ada, {
        label: 'app',
        roles: ['service'],
        user_id: null,
      });
      expect(await authenticate(app.key)).toMatchObject({ user_id: null, roles: ['service'] });
      const mine = await eventually(async () => {
        const found = await fixture.call<{ data: KeyRow[] }>('keys.list', eve);
        return found.data.length >= 2 && found;
      });
      expect(mine.data.map(({ key_id }) => key_id)).toEqual([key.key_id, first.key_id]);
      expect(Object.keys(mine.data[0]!)).not.toContain('hash');
    });

    it('switches off the agents of who is deactivated; only they switch them on again, after their return', async () => {
      const max = await fixture.member(org);
      await create(max);
      await fixture.call('users.deactivate', ada, { user_id: max.userId });
      const off = await eventually(async () => {
        // Agents and people are rows of two projections.
        const row = await get(ada);
        return !row.enabled && row.start_conditions.length === 2 && row;
      });
      expect(off).toMatchObject({
        enabled_by: 'system:agent-registry',
        enabled_reason: 'the owner was deactivated',
      });
      expect(off.start_conditions.map(({ code }) => code)).toEqual(['agent_disabled', 'owner_inactive']);
      expect((await fixture.refusal('agents.enable', max, { agent_id: 'helper' })).code).toBe(
        'owner_inactive',
      );
      expect(
        (await fixture.refusal('agents.create', ada, { ...AGENT, agent_id: 'new', owner_id: max.userId }))
          .code,
      ).toBe('owner_inactive');
      await fixture.call('users.reactivate', ada, { user_id: max.userId });
      const back = await eventually(async () => {
        const { start_conditions } = await get(ada);
        return start_conditions.length === 1 && start_conditions;
      });
      expect(back.map(({ code }) => code)).toEqual(['agent_disabled']);
      expect(
        (await fixture.call<AgentRow>('agents.enable', max, { agent_id: 'helper' })).start_conditions,
      ).toEqual([]);
    });

    it('deletes the agents of who is deleted, and keeps their versions', async () => {
      const max = await fixture.member(org);
      await create(max);
      const { position } = await fixture.call<{ position: string }>('users.delete', ada, {
        user_id: max.userId,
      });
      expect(
        (await fixture.refusal('users.get', ada, { user_id: max.userId, at_least: position })).code,
      ).toBe('not_found');
      await eventually(
        async () => (await logOf('helper')).at(-1)?.events[0]?.type === 'runyard.AgentDeleted.v1',
      );
      await eventually(
        async () => (await fixture.refusal('agents.get', ada, { agent_id: 'helper' })).code === 'not_found',
      );
      // An agent that has no row yet is not found either: the version says that the rows have caught up.
      const first = await eventually(() =>
        fixture.call('agents.version', ada, { agent_id: 'helper', version: 1 }),
      );
      expect(first).toMatchObject({ prompt: 'Help.' });
      expect(
        (await fixture.refusal('users.add', ada, { email: 'm@example.org', name: 'M', user_id: max.userId }))
          .code,
      ).toBe('already_exists');
    });

    it('keeps at least the admin who acts, and no two users of one address', async () => {
      const self = { user_id: ada.userId };
      expect((await fixture.refusal('users.deactivate', ada, self)).code).toBe('conflict');
      expect((await fixture.refusal('users.delete', ada, self)).code).toBe('conflict');
      expect((await fixture.refusal('users.update', ada, { ...self, roles: ['member'] })).code).toBe(
        'conflict',
      );
      expect(
        (await fixture.refusal('users.add', ada, { email: org.user.email.toUpperCase(), name: 'B' })).code,
      ).toBe('already_exists');
      const list = await eventually(async () => {
        const { data } = await fixture.call<{ data: UserRow[] }>('users.list', ada);
        return data.length > 0 && data;
      });
      expect(list.map(({ user_id }) => user_id)).toEqual([ada.userId]);
    });
  });

  it('C63 answers not_found about everything of another org, and appends nothing (mastra-ai/mastra#22575)', async () => {
    const created = await create(ada, { tools: ['lookup'] });
    const max = await fixture.member(org);
    const key = await fixture.call<CreatedKey>('keys.create', ada, { label: 'x', roles: ['member'] });
    await get(ada, 'helper', created.position);
    const stranger = (await fixture.org()).admin;
    const before =
      (await bus.log.state('AGENTS')).lastSequence + (await bus.log.state('PEOPLE')).lastSequence;
    const agent = { agent_id: 'helper' };
    const calls: [string, object][] = [
      ...['get', 'update', 'versions', 'enable', 'disable', 'lock', 'unlock', 'delete'].map(
        (m): [string, object] => [`agents.${m}`, agent],
      ),
      ['agents.version', { ...agent, version: 1 }],
      ['models.update', { model_id: 'fast', label: 'x' }],
      ['models.set_default', { model_id: 'fast' }],
      ['tools.update', { name: 'lookup', effect: 'write' }],
      ...['get', 'update', 'deactivate', 'reactivate', 'delete'].map((m): [string, object] => [
        `users.${m}`,
        { user_id: max.userId },
      ]),
      ['keys.revoke', { key_id: key.key_id }],
    ];
    for (const [method, input] of calls)
      expect([method, (await fixture.refusal(method, stranger, input)).code]).toEqual([method, 'not_found']);
    // Removing what is not there is a wish that is true already; it must not reach the other org's rows.
    await fixture.call('models.remove', stranger, { model_id: 'fast' });
    await fixture.call('tools.remove', stranger, { name: 'lookup' });
    for (const method of ['agents.list', 'models.list', 'tools.list'])
      expect((await fixture.call<{ data: unknown[] }>(method, stranger)).data).toEqual([]);
    expect((await fixture.refusal('agents.create', stranger, { ...AGENT, owner_id: max.userId })).code).toBe(
      'invalid_request',
    );
    expect((await bus.log.state('AGENTS')).lastSequence + (await bus.log.state('PEOPLE')).lastSequence).toBe(
      before,
    );
    expect(
      (await fixture.refusal('agents.get', { ...stranger, org: `${org.org.org_id}.>` }, agent)).code,
    ).toBe('unauthenticated');
    expect((await fixture.refusal('agents.get', callerOf('', randomUUID(), ['admin']), agent)).code).toBe(
      'unauthenticated',
    );
  });

  describe('versions', () => {
    const diff = (input: object, caller = ada) =>
      fixture.call<VersionDiff>('agents.diff', caller, { agent_id: 'helper', ...input });
    const restore = (version: number, more: object = {}) =>
      fixture.call<AgentRow>('agents.restore', ada, { agent_id: 'helper', version, ...more });

    it('are compared field by field, with the one before or with any other', async () => {
      await create(ada, { tools: ['lookup'], prompt: 'One.\nTwo.' });
      await fixture.call('agents.update', ada, {
        agent_id: 'helper',
        prompt: 'One.\nThree.',
        name: 'New name',
      });
      const { position } = await fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'helper',
        tools: [],
        mode: 'auto',
      });
      const { changes, from, to } = await diff({ version: 3, at_least: position });
      expect([from, to, changes.map(({ field }) => field)]).toEqual([2, 3, ['mode', 'tools']]);
      expect((await diff({ version: 2 })).changes).toMatchObject([
        {
          field: 'prompt',
          lines: [
            { kind: 'same', lines: ['One.'] },
            { kind: 'removed', lines: ['Two.'] },
            { kind: 'added', lines: ['Three.'] },
          ],
        },
      ]);
      expect((await diff({ version: 1, from: 3 })).changes).toHaveLength(3);
      for (const input of [{ version: 1 }, { version: 4 }, { version: 3, from: 9 }])
        expect((await fixture.refusal('agents.diff', ada, { agent_id: 'helper', ...input })).code).toBe(
          'not_found',
        );
      const eve = await fixture.member(org);
      const input = { agent_id: 'helper', version: 2 };
      expect((await fixture.refusal('agents.diff', eve, input)).code).toBe('forbidden');
      expect((await fixture.refusal('agents.restore', eve, { agent_id: 'helper', version: 1 })).code).toBe(
        'forbidden',
      );
    });

    it('come back as new ones: what is not behaviour stays as it is', async () => {
      await create(ada, { tools: ['lookup'], prompt: 'One.', bounds: { max_steps: 5 } });
      const changed = await fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'helper',
        prompt: 'Two.',
        tools: [],
        bounds: {},
        name: 'Renamed',
      });
      expect(
        (await fixture.refusal('agents.restore', ada, { agent_id: 'helper', version: 1, if_match: '1.1' }))
          .code,
      ).toBe('version_mismatch');
      const back = await restore(1, { if_match: changed.etag });
      expect(back).toMatchObject({
        agent_version: 3,
        prompt: 'One.',
        tools: ['lookup'],
        bounds: { max_steps: 5 },
        name: 'Renamed',
      });
      expect((await restore(1)).agent_version).toBe(3);
      expect((await restore(2)).agent_version).toBe(4);
      expect((await fixture.refusal('agents.restore', ada, { agent_id: 'helper', version: 9 })).code).toBe(
        'not_found',
      );
    });

    it('do not come back with less than their authors chose: what has left the lists is named', async () => {
      await create(ada, { tools: ['lookup'] });
      await fixture.call('agents.update', ada, { agent_id: 'helper', tools: [] });
      await fixture.call('tools.remove', ada, { name: 'lookup' });
      const refusal = await fixture.refusal('agents.restore', ada, { agent_id: 'helper', version: 1 });
      expect(refusal).toMatchObject({
        code: 'invalid_request',
        facts: { errors: [{ pointer: '/tools/0' }] },
      });
    });
  });

  it('carries what becomes of missed slots; an edit that says what holds is none', async () => {
    expect(await create(ada)).toMatchObject({ catch_up: 'latest' });
    const same = await fixture.call<AgentRow>('agents.update', ada, {
      agent_id: 'helper',
      catch_up: 'latest',
    });
    expect(same.etag).toBe('1.1');
    const { position } = await fixture.call<AgentRow>('agents.update', ada, {
      agent_id: 'helper',
      catch_up: 'none',
    });
    expect(await get(ada, 'helper', position)).toMatchObject({
      catch_up: 'none',
      etag: '1.2',
      agent_version: 1,
    });
  });

  it('has rows that equal a replay of the log, row for row', async () => {
    const max = await fixture.member(org);
    await create(max, { tools: ['lookup'] });
    await create(ada, { agent_id: 'second' });
    await fixture.call('agents.update', max, { agent_id: 'helper', prompt: 'Two.', tools: [] });
    await fixture.call('models.remove', ada, { model_id: 'fast' });
    await eventually(async () => (await get(ada, 'second')).model_id === null);
    await fixture.call('agents.delete', ada, { agent_id: 'second', history: 'purge' });
    await fixture.call('users.delete', ada, { user_id: max.userId });
    await eventually(
      async () => (await logOf('helper')).at(-1)?.events[0]?.type === 'runyard.AgentDeleted.v1',
    );
    const db = fixture.servers.database.connect('agent-registry');
    for (const { projection, ...tables } of AGENT_REGISTRY_PROJECTIONS) {
      const verification = await rebuildAndCompare({
        ownerUrl: fixture.servers.database.ownerUrl,
        projection,
        source: archiveSource(db, projection.stream),
        ...tables,
      });
      expect(verification.tables.filter(({ missing, extra }) => missing || extra)).toEqual([]);
      expect(verification.tables.reduce((sum, { rows }) => sum + rows, 0)).toBeGreaterThan(0);
    }
  });
});
