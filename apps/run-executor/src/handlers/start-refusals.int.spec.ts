import { userAggregate } from '@runyard/contracts';
import type { Context, NewEvent } from '@runyard/contracts';
import { MODEL } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { OWNER, World } from './e2e/world';

jest.setTimeout(300_000);

let world: World;
beforeAll(async () => {
  world = await World.create();
  await TestExecutor.start(world, {
    model: () => ({ text: 'done' }),
    tool: () => ({ ok: true, text: 'ok' }),
  });
});
afterAll(() => world[Symbol.asyncDispose]());

type At = [context: Context, id: string, event: NewEvent];
const AGENT = { context: 'agents', id: 'agent' } as const;
const ofAgent = (type: string, data: object = { reason: null }): At => [
  AGENT.context,
  AGENT.id,
  { type, data },
];
const ofOwner = (type: string): At => ['people', userAggregate(OWNER), { type, data: { userId: OWNER } }];
const tell = ([context, id, event]: At) => world.append(context, id, [event]);

// The last one stays closed: a model that is cleared comes back by its owner's choice only.
it.each<[code: string, closes: At, opens: At | null]>([
  ['agent_disabled', ofAgent('AgentDisabled'), ofAgent('AgentEnabled')],
  ['agent_locked', ofAgent('AgentLocked'), ofAgent('AgentUnlocked')],
  ['owner_inactive', ofOwner('UserDeactivated'), ofOwner('UserReactivated')],
  ['agent_without_model', ofAgent('AgentModelCleared', { modelId: MODEL.modelId }), null],
])('a start is refused with %s, in words, and leaves no trace', async (code, closes, opens) => {
  await tell(closes);
  const answer = await world.request(code);
  expect(answer).toMatchObject({ ok: false, code, message: expect.stringMatching(/\w/) });
  const runId = world.runId(code);
  expect(await world.events(runId)).toEqual([]);
  for (const table of ['run_slots', 'agent_runs'])
    expect(await world.rows(`SELECT 1 FROM ${table} WHERE run_id = '${runId}'`)).toEqual([]);
  expect(world.budgets.held.has(runId)).toBe(false);
  if (!opens) return;
  await tell(opens);
  // The refused key stands for nothing and can be used again.
  expect(await world.request(code)).toMatchObject({ ok: true, created: true });
  await world.ended(runId);
});
