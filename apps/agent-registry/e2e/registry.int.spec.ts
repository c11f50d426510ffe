import type { AgentRow } from '@runyard/contracts';
import { MODEL, RegistryFixture } from './fixture';

jest.setTimeout(60_000);

describe('agent registry', () => {
  let fixture: RegistryFixture;
  beforeAll(async () => {
    fixture = await RegistryFixture.start();
    await fixture.run();
  });
  afterAll(() => fixture?.[Symbol.asyncDispose]());

  it('creates an agent with the default model and reads it back at its position', async () => {
    const org = await fixture.org();
    await fixture.call('models.allow', org.admin, { model_id: 'fast', ...MODEL });
    const created = await fixture.call<AgentRow>('agents.create', org.admin, {
      agent_id: 'helper',
      name: 'Helper',
      prompt: 'Help.',
    });
    expect(created).toMatchObject({
      agent_version: 1,
      model_id: 'fast',
      enabled: true,
      admin_paused: false,
      start_conditions: [],
      etag: '1.1',
    });
    expect(
      await fixture.call('agents.get', org.admin, { agent_id: 'helper', at_least: created.position }),
    ).toEqual(created);
  });
});
