import type { AgentBehaviour, CatalogueTool, RunEvent } from '@runyard/contracts';
import { ofType } from './invariants';
import { calls } from './script';
import type { Answer, Script } from './script';
import { OWNER, World } from './world';
import type { Setting } from './world';

/** Spec-only: agents that delegate to each other, and what holds of whole trees of runs. */

/** Whose agent the helper is: somebody else's. */
export const HELPER_OWNER = '33333333-3333-4333-8333-333333333333';

const TASK = {
  type: 'object',
  properties: { task: { type: 'string' } },
  required: ['task'],
  additionalProperties: false,
};

const agentTool = (name: string, agentId: string, more: Partial<CatalogueTool> = {}): CatalogueTool => ({
  name,
  description: `Asks the agent ${agentId}`,
  inputSchema: TASK,
  effect: 'read',
  idempotent: false,
  source: { kind: 'agent', agentId },
  timeoutMs: 10_000,
  endsRun: false,
  agentsAllowed: true,
  ...more,
});

/** `ask` is the helper; `ask_cheaply` the helper on a budget; `ask_nobody` an agent that is gone; `ask_self` the asking agent. */
export const AGENT_TOOLS: CatalogueTool[] = [
  agentTool('ask', 'helper'),
  agentTool('ask_cheaply', 'helper', { source: { kind: 'agent', agentId: 'helper', tokenBudget: 20_000 } }),
  agentTool('ask_nobody', 'nobody'),
  agentTool('ask_self', 'agent'),
];

/** A world with the agents `agent` and `helper`, which have the same tools. */
export async function familyWorld(
  setting: Setting = {},
  helper: Partial<AgentBehaviour> = {},
): Promise<World> {
  const world = await World.create({ ...setting, tools: [...AGENT_TOOLS, ...(setting.tools ?? [])] });
  const person = {
    userId: HELPER_OWNER,
    email: 'h@example.org',
    name: 'Helper',
    timeZone: null,
    roles: ['member'],
  };
  await world.append('people', `user-${HELPER_OWNER}`, [{ type: 'UserAdded', data: person }]);
  const behaviour = {
    prompt: 'Help.',
    modelId: 'm1',
    tools: ['look', 'put', 'write', ...AGENT_TOOLS.map(({ name }) => name)],
    bounds: {},
    approvalPolicy: 'park',
    mode: 'auto',
    ...helper,
  };
  const details = {
    name: 'Helper',
    description: '',
    concurrency: 'agent',
    overlap: 'skip',
    schedule: null,
    meta: {},
  };
  const data = { ownerId: HELPER_OWNER, version: 1, enabled: true, behaviour, details };
  await world.append('agents', 'helper', [{ type: 'AgentCreated', data }]);
  return world;
}

/** A turn that delegates tasks. */
export const delegates = (...tasks: string[]): Answer =>
  calls(...tasks.map((task): [string, string] => ['ask', JSON.stringify({ task })]));

/** What the model answers by what the run was asked; each answer is one turn, the last one again and again. */
export const answering = (
  book: (input: string) => readonly (Answer | Promise<Answer>)[],
  tool: Script['tool'] = () => ({ ok: true, text: 'ok' }),
): Script => ({
  model: (request, step) => {
    const said = request.messages.findLast((message) => message.role === 'user');
    const answers = book(said?.role === 'user' ? said.text : '');
    return answers[Math.min(step, answers.length) - 1] ?? { text: 'done' };
  },
  tool,
});

/** Ids of the runs that a run delegated to, in the order of their grants. */
export const childrenOf = (events: readonly RunEvent[]): string[] =>
  ofType(events, 'ChildGranted').map(({ data }) => data.childRunId);

/** The whole tree below a run, itself included. */
export async function treeOf(world: World, runId: string): Promise<Map<string, RunEvent[]>> {
  const events = await world.events(runId);
  const tree = new Map([[runId, events]]);
  for (const child of childrenOf(events))
    for (const [id, below] of await treeOf(world, child)) tree.set(id, below);
  return tree;
}

const TERMINAL: readonly RunEvent['type'][] = ['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped'];

const ownTokens = (events: readonly RunEvent[]): number =>
  [...ofType(events, 'ModelTurnCompleted'), ...ofType(events, 'ModelCallFailed')].reduce(
    (sum, { data }) => sum + data.usage.input + data.usage.output,
    0,
  );

/**
 * Of every run in an ended tree: one end, after all its children's; each child settled once, at what its own log says; the
 * grants that were open together within what was free. Returns the tokens of the tree.
 */
export async function expectSoundTree(world: World, runId: string): Promise<number> {
  const events = await world.events(runId);
  const where = { runId };
  expect({ ...where, ends: events.filter(({ type }) => TERMINAL.includes(type)).length }).toEqual({
    ...where,
    ends: 1,
  });
  const granted = ofType(events, 'ChildGranted');
  const settled = ofType(events, 'ChildSettled');
  expect(settled.map(({ data }) => data.childRunId).toSorted()).toEqual(childrenOf(events).toSorted());
  expect(new Set(childrenOf(events)).size).toBe(granted.length);
  let below = 0;
  for (const { data } of settled) {
    const tokens = await expectSoundTree(world, data.childRunId);
    expect({ ...where, tokens: data.tokens }).toEqual({ ...where, tokens });
    below += tokens;
  }
  expectWithinGrant(events);
  const end = events.find(({ type }) => TERMINAL.includes(type));
  const spend = end && 'spend' in end.data ? end.data.spend : undefined;
  if (spend)
    expect({ ...where, ...spend, lines: 0 }).toEqual({
      ...where,
      lines: 0,
      own: ownTokens(events),
      children: below,
    });
  return ownTokens(events) + below;
}

/** At every instant what is used and given away fits the run's own grant. */
function expectWithinGrant(events: readonly RunEvent[]): void {
  const grant = ofType(events, 'RunQueued')[0]?.data.grantTokens;
  if (grant === undefined) return;
  let spent = 0;
  const open = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'ModelTurnCompleted' || event.type === 'ModelCallFailed')
      spent += event.data.usage.input + event.data.usage.output;
    if (event.type === 'ChildGranted') open.set(event.data.childRunId, event.data.grantTokens);
    if (event.type === 'ChildSettled') {
      open.delete(event.data.childRunId);
      spent += event.data.tokens;
    }
    const given = [...open.values()].reduce((sum, tokens) => sum + tokens, 0);
    expect(spent + given).toBeLessThanOrEqual(grant);
    for (const tokens of open.values()) expect(tokens).toBeGreaterThan(0);
  }
  expect(open.size).toBe(0);
}

export { OWNER };
