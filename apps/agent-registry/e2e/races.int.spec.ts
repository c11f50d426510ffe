import { isDeepStrictEqual } from 'node:util';
import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { AgentRow, Caller } from '@runyard/contracts';
import { MODELS_ID, subjectOf } from '@runyard/contracts';
import { deadLetters } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { Client } from 'pg';
import { AGENT_REGISTRY_PROJECTIONS } from '../src/projections';
import { MODEL, RegistryFixture, TOOL } from './fixture';
import type { Org } from './fixture';

jest.setTimeout(120_000);

/** Repeated from the beginning in a spec. */
const REACTIONS = ['registry-catalogue-reaction', 'registry-people-reaction', 'registry-owner-reaction'];

describe('two registries side by side', () => {
  let fixture: RegistryFixture;
  let bus: EventLogConnection;
  let instances: INestApplicationContext[];
  let org: Org;
  let ada: Caller;

  beforeAll(async () => {
    fixture = await RegistryFixture.start();
    bus = fixture.servers.bus;
    instances = await Promise.all([fixture.run(), fixture.run()]);
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());
  beforeEach(async () => {
    org = await fixture.org();
    ada = org.admin;
    await fixture.call('models.allow', ada, { model_id: 'fast', ...MODEL });
    await fixture.call('models.allow', ada, { model_id: 'spare', ...MODEL });
  });

  const create = (caller: Caller, agentId: string, more: object = {}) =>
    fixture.call<AgentRow>('agents.create', caller, {
      agent_id: agentId,
      name: agentId,
      prompt: 'Help.',
      ...more,
    });
  const codes = (results: PromiseSettledResult<unknown>[]) =>
    results.map((r) => (r.status === 'fulfilled' ? 'ok' : (r.reason as { code: string }).code)).sort();
  const rows = async () =>
    (await fixture.call<{ data: AgentRow[] }>('agents.list', ada, { limit: 200 })).data;
  const numbers = (n: number) => Array.from({ length: n }, (_, index) => index);
  const lengthOf = async (agentId: string) =>
    (await bus.log.read(subjectOf('agents', org.org.org_id, agentId))).length;

  async function sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: fixture.servers.database.ownerUrl });
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  /** Every reaction and every projection: what a reaction did stands in the rows, too. */
  const ends = async () => {
    const [agents, people] = await Promise.all([bus.log.state('AGENTS'), bus.log.state('PEOPLE')]);
    return { agents: agents.lastSequence, people: people.lastSequence };
  };

  /** Every reaction has acted, and rows show what it did: what was appended while checkpoints were read is waited for. */
  async function everybodyCaughtUp(): Promise<void> {
    await eventually(async () => {
      const before = await ends();
      const found = await sql<{ projection: string; stream: string; position: string }>(
        'SELECT projection, stream, position FROM agent_registry.projection_checkpoints',
      );
      const reached = found.every(
        ({ stream, position }) => Number(position) >= (stream === 'PEOPLE' ? before.people : before.agents),
      );
      const complete = found.length === REACTIONS.length + AGENT_REGISTRY_PROJECTIONS.length;
      return complete && reached && isDeepStrictEqual(await ends(), before);
    });
  }

  it('let exactly one of many creators of an id win', async () => {
    const results = await Promise.allSettled(numbers(12).map(() => create(ada, 'one')));
    expect(codes(results)).toEqual([...numbers(11).map(() => 'already_exists'), 'ok']);
    expect(await lengthOf('one')).toBe(1);
  });

  it('let exactly one of many edits of the same reading win, and all edits that name none', async () => {
    const { etag } = await create(ada, 'one');
    const edit = (n: number, ifMatch?: string) =>
      fixture.call<AgentRow>('agents.update', ada, {
        agent_id: 'one',
        prompt: `Prompt ${n}`,
        if_match: ifMatch,
      });
    const guarded = await Promise.allSettled(numbers(8).map((n) => edit(n, etag)));
    expect(codes(guarded)).toEqual(['ok', ...numbers(7).map(() => 'version_mismatch')]);
    const free = await Promise.all(numbers(8).map((n) => edit(100 + n)));
    expect(free.map(({ agent_version }) => agent_version).sort((a, b) => a - b)).toEqual(
      numbers(8).map((n) => n + 3),
    );
  });

  it('leave no agent with a model that was removed while it was being chosen, nor with a deleted tool', async () => {
    await fixture.call('tools.register', ada, { name: 'lookup', ...TOOL });
    const chosen = { model_id: 'spare', tools: ['lookup'] };
    const creating = numbers(20).map((n) => create(ada, `a${n}`, chosen));
    const removing = ['models.remove', 'tools.remove'].map((method) =>
      fixture.call(method, ada, method === 'models.remove' ? { model_id: 'spare' } : { name: 'lookup' }),
    );
    const outcomes = await Promise.allSettled([...creating, ...removing]);
    await everybodyCaughtUp();
    const found = await rows();
    expect(found).toHaveLength(codes(outcomes.slice(0, 20)).filter((code) => code === 'ok').length);
    for (const { model_id, tools, agent_version } of found)
      expect({ model_id, tools, agent_version }).toEqual({ model_id: null, tools: [], agent_version: 1 });
  });

  it('leave no agent switched on whose owner left while it was created or switched on', async () => {
    const max = await fixture.member(org);
    await Promise.all(numbers(5).map((n) => create(max, `off${n}`, { enabled: false })));
    const work = [
      ...numbers(10).map((n) => create(max, `new${n}`)),
      ...numbers(5).map((n) => fixture.call('agents.enable', max, { agent_id: `off${n}` })),
      fixture.call('users.deactivate', ada, { user_id: max.userId }),
    ];
    await Promise.allSettled(work);
    await everybodyCaughtUp();
    expect((await rows()).filter(({ owner_id, enabled }) => owner_id === max.userId && enabled)).toEqual([]);
  });

  it('go on with a reaction where they were stopped', async () => {
    await create(ada, 'one', { model_id: 'spare' });
    await everybodyCaughtUp();
    await Promise.all(instances.map((instance) => fixture.end(instance)));
    const subject = subjectOf('catalogue', org.org.org_id, MODELS_ID);
    const removal = { type: 'ModelRemoved', data: { modelId: 'spare' } };
    await bus.log.append({
      subject,
      expected: await bus.log.lastSequence(subject),
      events: [removal],
      meta: { actor: 'system:spec', source: 'spec' },
    });
    instances = await Promise.all([fixture.run(), fixture.run()]);
    await eventually(async () => (await rows())[0]?.model_id === null);
  });

  it('change nothing when a reaction is repeated from the beginning', async () => {
    const max = await fixture.member(org);
    await create(max, 'one', { model_id: 'spare' });
    await fixture.call('models.remove', ada, { model_id: 'spare' });
    await eventually(async () => (await rows())[0]?.model_id === null);
    await fixture.call('models.allow', ada, { model_id: 'spare', ...MODEL });
    await fixture.call('agents.update', max, { agent_id: 'one', model_id: 'spare' });
    await fixture.call('users.deactivate', ada, { user_id: max.userId });
    await eventually(async () => !(await rows())[0]?.enabled);
    await fixture.call('users.reactivate', ada, { user_id: max.userId });
    await fixture.call('agents.enable', max, { agent_id: 'one' });
    await everybodyCaughtUp();
    await Promise.all(instances.map((instance) => fixture.end(instance)));
    const before = await bus.log.state('AGENTS');
    await sql('UPDATE agent_registry.projection_checkpoints SET position = 0 WHERE projection = ANY ($1)', [
      REACTIONS,
    ]);
    instances = await Promise.all([fixture.run(), fixture.run()]);
    await everybodyCaughtUp();
    expect(await bus.log.state('AGENTS')).toEqual(before);
    expect((await rows())[0]).toMatchObject({ model_id: 'spare', enabled: true });
  });

  it('put a reaction that cannot be done among the dead letters and do the others', async () => {
    const letters = deadLetters(bus.connection);
    const had = (await letters.list({ limit: 1_000 })).length;
    for (const id of ['a', 'b', 'c']) await create(ada, id, { model_id: 'spare' });
    const subject = subjectOf('agents', org.org.org_id, 'b');
    const foreign = { type: 'AgentTeleported', data: {} };
    await bus.log.append({
      subject,
      expected: await bus.log.lastSequence(subject),
      events: [foreign],
      meta: { actor: 'system:spec', source: 'spec' },
    });
    expect((await fixture.refusal('agents.update', ada, { agent_id: 'b', name: 'x' })).code).toBe(
      'unavailable',
    );
    await fixture.call('models.remove', ada, { model_id: 'spare' });
    await eventually(async () => (await rows()).filter(({ model_id }) => model_id === null).length === 2);
    const found = await eventually(async () => {
      const all = await letters.list({ limit: 1_000 });
      return all.length > had && all;
    });
    expect(found.at(-1)).toMatchObject({
      stream: 'AGENTS',
      consumer: 'registry-catalogue-reaction',
      subject: expect.stringContaining('runyard.dead'),
    });
    expect(found.at(-1)?.reason).toContain('AgentTeleported');
    letters.close();
    await create(ada, `later-${randomUUID()}`);
    await everybodyCaughtUp();
  });
});
