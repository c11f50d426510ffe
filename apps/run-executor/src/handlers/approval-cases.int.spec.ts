import type { ApprovalRequested, ApprovalVerdict } from '@runyard/contracts';
import { subjectOf, TOOLS_ID } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { EXECUTOR_DEFAULTS } from '../config';
import { dialogOf, expectSound, ofType } from './e2e/invariants';
import { calls, ok, TOOLS } from './e2e/script';
import type { Script } from './e2e/script';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, ORG, World } from './e2e/world';

jest.setTimeout(300_000);

/** What other systems got wrong about approvals, at the run's side; the decisions are appended as the approvals service does. */

const SCRIPT: Script = {
  model: (request, step) => {
    const said = request.messages.findLast((message) => message.role === 'user');
    const input = said?.role === 'user' ? said.text : '';
    if (!input.startsWith('family')) return step === 1 ? calls(['write', '{"n":1}']) : { text: 'done' };
    if (step === 1)
      return calls(['put', '{"n":"A"}'], ['put', '{"n":"B"}'], ['look', '{}'], ['put', '{"n":"E"}']);
    return step === 2 ? calls(['put', '{"n":"D"}']) : { text: 'done' };
  },
  tool: ({ arguments: args }) => ok(`did ${JSON.stringify(args)}`),
};

let world: World;
let door: TestExecutor;
beforeAll(async () => {
  world = await World.create({ behaviour: { mode: 'ask', approvalPolicy: 'park' } });
  door = await TestExecutor.start(world, SCRIPT);
});
afterAll(() => world[Symbol.asyncDispose]());

type Question = ApprovalRequested['data'];
const questionsOf = async (runId: string): Promise<Question[]> =>
  ofType(await world.events(runId), 'ApprovalRequested').map(({ data }) => data);

async function asking(key: string) {
  const runId = await world.start(key);
  await world.logged(runId, 'RunAwaitingApproval');
  return { runId, questions: await questionsOf(runId) };
}

async function decide(
  runId: string,
  { approvalId, callId, argumentsDigest, groupKey }: Question,
  verdict: ApprovalVerdict,
  over: object = {},
): Promise<void> {
  const rest = { arguments: null, message: null, wholeGroup: false, groupKey, ruleId: null };
  await world.bus.log.append({
    subject: subjectOf('approvals', ORG, approvalId),
    expected: await world.bus.log.lastSequence(subjectOf('approvals', ORG, approvalId)),
    events: [
      { type: 'ApprovalDecided', data: { runId, callId, verdict, argumentsDigest, ...rest, ...over } },
    ],
    meta: { actor: 'user:reviewer', source: 'approvals' },
  });
}

const EDITED = { n: 'E, edited' };
/** A is denied, B approved, E approved with other arguments. */
const ANSWERS: Record<string, (runId: string, questions: readonly Question[]) => Promise<void>> = {
  A: (runId, [a]) => decide(runId, a!, 'deny', { message: { text: 'Not A.' } }),
  B: (runId, [, b]) => decide(runId, b!, 'approve'),
  E: (runId, [, , e]) =>
    decide(runId, e!, 'approve', {
      arguments: { text: JSON.stringify(EDITED) },
      argumentsDigest: digestOf(EDITED),
    }),
};
const ORDERS = ['ABE', 'AEB', 'BAE', 'BEA', 'EAB', 'EBA'];

/** The process is gone, at whatever it was, and another one goes on. */
async function crash(): Promise<void> {
  await door.die();
  door = await TestExecutor.start(world, SCRIPT);
}

it.each([0, 1, 2, 3])(
  'C40 six orders of three answers, each with a crash after %i of them: every answer reaches its call (langchain-ai/langgraph#6533)',
  async (before) => {
    const runs = await Promise.all(
      ORDERS.map(async (order) => ({ order, ...(await asking(`family ${order} ${before}`)) })),
    );
    const answer = async (from: number, to: number) => {
      for (const { order, runId, questions } of runs)
        for (const name of order.slice(from, to)) await ANSWERS[name]!(runId, questions);
    };
    await answer(0, before);
    await crash();
    await answer(before, 3);
    const asked = await Promise.all(
      runs.map(async ({ runId }) => ({
        runId,
        // The next step asks about D, which none of the old answers is for.
        last: await eventually(async () => (await questionsOf(runId))[3], { withinMs: 60_000 }),
      })),
    );
    await crash();
    await Promise.all(asked.map(({ runId }) => world.logged(runId, 'RunAwaitingApproval')));
    for (const { runId, last } of asked) {
      const sent = new Map(world.outside.toolsOf(runId).map((call) => [call.callId, call.arguments]));
      expect(Object.fromEntries(sent)).toEqual({ 'c1-1': { n: 'B' }, 'c1-2': {}, 'c1-3': EDITED });
      await decide(runId, last, 'approve');
    }
    for (const { runId, order } of runs) {
      await world.ended(runId);
      const events = await expectSound(world, runId, `family ${order} ${before}`);
      const used = [...ofType(events, 'CallApproved'), ...ofType(events, 'ToolCallDenied')];
      const ids = used.map(({ data }) => data.approvalId);
      expect(ids.toSorted()).toEqual((await questionsOf(runId)).map((one) => one.approvalId).toSorted());
      const results = (await dialogOf(world, runId)).flatMap((message) =>
        message.role === 'tool' ? [message.text] : [],
      );
      expect(results[0]).toBe('Not A.');
    }
  },
);

it('C39 a tool that changes while its call waits changes nothing of what was approved, and the model is not asked again (extra-org/extra#139)', async () => {
  const { runId, questions } = await asking('revised');
  const write = TOOLS.find(({ name }) => name === 'write')!;
  const tool = { ...write, description: 'Another tool by now', source: { kind: 'builtin', name: 'other' } };
  await world.append('catalogue', TOOLS_ID, [{ type: 'ToolRevised', data: { tool } }]);
  await decide(runId, questions[0]!, 'approve');
  await world.ended(runId);
  const sent = world.outside.toolsOf(runId);
  expect(sent.map((call) => [call.tool.description, call.tool.source, call.arguments])).toEqual([
    ['write', { kind: 'builtin', name: 'write' }, { n: 1 }],
  ]);
  const events = await expectSound(world, runId, 'revised');
  expect(ofType(events, 'ModelCallStarted')).toHaveLength(2);
  await world.append('catalogue', TOOLS_ID, [{ type: 'ToolRevised', data: { tool: write } }]);
});

it('C39 a decision about other arguments than the call has is no grant for it: it is asked about anew (Oculith#9)', async () => {
  const { runId, questions } = await asking('forged');
  await decide(runId, { ...questions[0]!, argumentsDigest: digestOf({ n: 666 }) }, 'approve');
  const { runId: after, questions: next } = await asking('after the forged one');
  await decide(after, next[0]!, 'approve');
  // The reaction takes commits in order: it has been through the forged one.
  await world.ended(after);
  expect(world.outside.toolsOf(runId)).toHaveLength(0);
  const again = await eventually(async () => (await questionsOf(runId))[1]);
  expect(again.argumentsDigest).toBe(questions[0]!.argumentsDigest);
  await decide(runId, again, 'approve');
  await world.ended(runId);
  expect(world.outside.toolsOf(runId)).toHaveLength(1);
});

it('C41 (c) a run that waits for a person is at work: no guard of silence ends it (use-agent-os/agent-os#1564)', async () => {
  const { runId, questions } = await asking('patient');
  const later = await TestExecutor.start(world, null, { works: false, clock: () => Date.now() + 3_600_000 });
  await later.executor.sweep.drivers();
  await later.executor.sweep.overdue();
  expect(await world.row(runId)).toMatchObject({ state: 'awaiting_approval', ended_at: null });
  await decide(runId, questions[0]!, 'approve');
  expect(await world.ended(runId)).toMatchObject({ type: 'RunSucceeded' });
});

it('C41 (d) a click after the cancel sends nothing (use-agent-os/agent-os#1564)', async () => {
  const { runId, questions } = await asking('too late');
  expect(await door.controls.cancel(CALLER, { run_id: runId })).toMatchObject({ state: 'cancelled' });
  await decide(runId, questions[0]!, 'approve');
  const { runId: after, questions: next } = await asking('after the late one');
  await decide(after, next[0]!, 'approve');
  await world.ended(after);
  expect(world.outside.toolsOf(runId)).toHaveLength(0);
  expect((await world.types(runId)).at(-1)).toBe('RunCancelled');
});

it('nobody decides for ever: three days by default, over a weekend (vstorm-co/agenticos#457)', () => {
  expect(EXECUTOR_DEFAULTS.approvalTtlMs).toBe(72 * 3_600_000);
});
