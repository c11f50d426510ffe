import type { Database } from '@runyard/persistence';
import { freshDatabase, projectionSpec } from '@runyard/testing';
import type { ProjectionSpec, SpecCommit, TestDatabase } from '@runyard/testing';
import { AGENT_REGISTRY_MIGRATIONS } from '../migrations';
import { findAgent, listVersions } from './agent.queries';
import { CATALOGUE_PROJECTION } from './catalogue.projection';
import { listModels } from './catalogue.queries';
import { PEOPLE_PROJECTION } from './people.projection';
import { listUsers } from './people.queries';

jest.setTimeout(120_000);

const ORG = '11111111-1111-4111-8111-111111111111';
const ELSEWHERE = '22222222-2222-4222-8222-222222222222';
const MAX = '33333333-3333-4333-8333-333333333333';
const behaviour = {
  prompt: 'Help.',
  modelId: null,
  tools: ['b', 'a'],
  bounds: { maxSteps: 3 },
  approvalPolicy: 'park',
  mode: 'ask',
};
const details = {
  name: 'Helper',
  description: '',
  concurrency: 'agent',
  overlap: 'skip',
  schedule: { type: 'interval', every_hours: 1 },
  meta: { n: 1.5 },
};
const created = (version = 1, ownerId = MAX) => ({
  type: 'AgentCreated',
  data: { ownerId, version, behaviour, details, enabled: true },
});
const revised = (version: number, tools: string[]) => ({
  type: 'AgentRevised',
  data: { version, behaviour: { ...behaviour, tools } },
});
const deleted = (history: string) => ({ type: 'AgentDeleted', data: { history } });
const agent = (...events: SpecCommit['events']): SpecCommit => ({
  context: 'agents',
  org: ORG,
  id: 'helper',
  events,
});
const catalogue = (id: string, ...events: SpecCommit['events']): SpecCommit => ({
  context: 'catalogue',
  org: ORG,
  id,
  events,
});
const user = (...events: SpecCommit['events']): SpecCommit => ({
  context: 'people',
  org: ORG,
  id: `user-${MAX}`,
  events,
});
const added = {
  type: 'UserAdded',
  data: { userId: MAX, email: 'm@example.org', name: 'Max', timeZone: null, roles: ['member'] },
};
const gone = { type: 'UserDeleted', data: { userId: MAX } };

describe('the rows of the registry', () => {
  let database: TestDatabase;
  let db: Database;
  let agents: ProjectionSpec;
  let people: ProjectionSpec;

  beforeEach(async () => {
    database = await freshDatabase([{ service: 'agent-registry', migrations: AGENT_REGISTRY_MIGRATIONS }]);
    db = database.connect('agent-registry');
    agents = projectionSpec(db, CATALOGUE_PROJECTION);
    people = projectionSpec(db, PEOPLE_PROJECTION);
  });
  afterEach(() => database?.drop());

  const found = (org = ORG) => db.inOrg(org, (tx) => findAgent(tx, 'helper'));
  const versions = async () =>
    (await db.inOrg(ORG, (tx) => listVersions(tx, 'helper', { limit: 10 }))).data.map(
      ({ agent_version }) => agent_version,
    );

  it('show an agent whose owner is not known yet, and the owner once they are', async () => {
    await agents.given(agent(created()));
    expect(await found()).toMatchObject({
      agent_version: 1,
      etag: '1.1',
      tools: ['b', 'a'],
      bounds: { max_steps: 3 },
      meta: { n: 1.5 },
      position: '1.0',
      start_conditions: [{ code: 'agent_without_model' }],
    });
    expect((await db.inOrg(ORG, (tx) => listUsers(tx, { limit: 10 }))).data).toEqual([]);
    await people.given(user(added, { type: 'UserDeactivated', data: { userId: MAX } }));
    expect((await found())?.start_conditions.map(({ code }) => code)).toEqual([
      'agent_without_model',
      'owner_inactive',
    ]);
    expect((await db.inOrg(ORG, (tx) => listUsers(tx, { limit: 10 }))).data).toMatchObject([
      { user_id: MAX, active: false },
    ]);
  });

  it('are seen by their own org alone', async () => {
    await agents.given(agent(created()));
    expect(await found(ELSEWHERE)).toBeNull();
    await expect(
      db.inOrg(ELSEWHERE, (tx) =>
        tx.query('INSERT INTO users (org_id, user_id) VALUES ($1, $2)', [ORG, ELSEWHERE]),
      ),
    ).rejects.toThrow(/row-level security/);
  });

  it('keep the time of a link that stays, in the order of the author', async () => {
    await agents.given(agent(created()), agent(revised(2, ['a', 'c', 'b'])));
    const links = await agents.rows<{ tool: string; at: string }>(
      'SELECT tool, extract(epoch FROM created_at)::int::text AS at FROM agent_tools ORDER BY place',
    );
    expect(links.map(({ tool }) => tool)).toEqual(['a', 'c', 'b']);
    const [a, c, b] = links.map(({ at }) => Number(at));
    expect([a === b, Number(c) - Number(a)]).toEqual([true, 1]);
    await agents.given(agent({ type: 'AgentToolUnlinked', data: { tool: 'c' } }));
    expect(await found()).toMatchObject({ tools: ['a', 'b'], agent_version: 2, etag: '2.3' });
  });

  it('keep who set switch and lock, and why, apart from the time of the last edit', async () => {
    await agents.given(agent(created()));
    const before = await found();
    await agents.given({ ...agent({ type: 'AgentLocked', data: { reason: 'costs' } }), actor: 'user:boss' });
    expect(await found()).toMatchObject({
      admin_paused: true,
      admin_paused_by: 'user:boss',
      admin_paused_reason: 'costs',
      enabled: true,
      updated_at: before?.updated_at,
    });
    await agents.given(agent({ type: 'AgentEdited', data: { details: { ...details, name: 'New' } } }));
    expect((await found())?.updated_at).not.toBe(before?.updated_at);
  });

  it('go with a deleted agent, but its versions stay unless they are purged, however the events are batched', async () => {
    await agents.given(agent(created()), agent(deleted('keep')));
    expect([await found(), await versions()]).toEqual([null, [1]]);
    await agents.given(agent(created(2)), agent(deleted('purge')), agent(created(3)));
    expect([(await found())?.agent_version, await versions()]).toEqual([3, [3]]);
    await agents.given(agent(deleted('purge')));
    expect([await found(), await versions()]).toEqual([null, []]);
  });

  it('go with a deleted owner; what comes later for them leaves no row', async () => {
    await people.given(user(added));
    await agents.given(agent(created()));
    await people.given(user(gone));
    expect(await found()).toBeNull();
    await agents.given(agent(revised(2, [])), agent(deleted('keep')), agent(created(3)));
    expect([await found(), await versions()]).toEqual([null, [3, 1]]);
    expect(await agents.rows('SELECT FROM users')).toEqual([]);
    expect(await agents.rows('SELECT user_id FROM departed_users')).toEqual([{ user_id: MAX }]);
  });

  it('drop a removed model from lists, fallbacks and default, and keep its prices', async () => {
    const model = (modelId: string, fallbacks: string[] = []) => ({
      modelId,
      label: modelId,
      tier: 'fast',
      provider: { kind: 'openai-compatible', baseUrl: 'https://example.org' },
      model: 'm',
      contextWindow: 10,
      maxOutputTokens: 5,
      prices: [
        { currency: 'USD', input: '1', output: '2', cached: '0', validFrom: '2026-01-01T00:00:00.000Z' },
      ],
      fallbacks,
    });
    await agents.given(
      catalogue(
        'models',
        { type: 'ModelAllowed', data: { model: model('a') } },
        { type: 'DefaultModelSet', data: { modelId: 'a' } },
      ),
      catalogue('models', { type: 'ModelAllowed', data: { model: model('b', ['a']) } }),
      catalogue('models', { type: 'ModelRemoved', data: { modelId: 'a' } }),
    );
    expect(await db.inOrg(ORG, listModels)).toMatchObject([
      { model_id: 'b', fallbacks: [], is_default: false, provider: { base_url: 'https://example.org' } },
    ]);
    expect(
      await agents.rows(
        "SELECT prices->0->>'input' AS input FROM allowed_models WHERE removed_at IS NOT NULL",
      ),
    ).toEqual([{ input: '1' }]);
  });

  it('pass over events and subjects that they do not know', async () => {
    await agents.given(
      agent(created(), { type: 'AgentTeleported', data: {} }),
      { ...agent(created()), org: 'not-a-uuid' },
      catalogue('models', { type: 'ModelDreamt', data: {} }),
    );
    expect(await found()).toMatchObject({ etag: '1.1' });
    expect(await agents.rows('SELECT count(*)::int AS n FROM agents')).toEqual([{ n: 1 }]);
  });
});
