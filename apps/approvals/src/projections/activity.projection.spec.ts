import type { AgentEvent, ApprovalEvent, RunErased, RunEvent, TaskEvent } from '@runyard/contracts';
import { AGENT_LINES } from './agent-activity';
import { APPROVAL_LINES } from './approval-activity';
import { RUN_LINES } from './run-activity';
import { TASK_LINES } from './task-activity';

type Lines = Readonly<Record<string, ((event: never) => unknown) | undefined>>;

/** The line of an event, as it lies in the log. */
const lineOf = <Event extends { type: string }>(lines: object, type: Event['type'], data: object) =>
  (lines as Lines)[type]?.({ type, data, time: 0, actor: 'system:spec' } as never);

const birth = {
  agentId: 'clerk',
  agentVersion: 3,
  ownerId: 'o',
  userId: 'u',
  requestedBy: 'user:u',
  trigger: 'manual',
};
const run = (type: (RunEvent | RunErased)['type'], data: object = {}) => lineOf(RUN_LINES, type, data);

describe('an entry of the feed says in one line', () => {
  test('that a run was started, by whom and whose it is', () => {
    expect(run('RunQueued', birth)).toEqual({
      topic: 'starts',
      kind: 'run.queued',
      summary: 'started a run of clerk v3 (manual)',
      actor: 'user:u',
      facts: { owner_id: 'u', requested_by: 'user:u', agent_id: 'clerk', task_id: null },
    });
    expect(run('RunSkipped', { ...birth, reason: 'already_running' })).toMatchObject({
      summary: 'could not start a run of clerk v3 (manual): already_running',
    });
  });

  test('for which task it works', () => {
    const requestedBy = 'system:task_0123456789abcdefghij';
    expect(run('RunQueued', { ...birth, requestedBy })).toMatchObject({
      facts: { task_id: 'task_0123456789abcdefghij' },
    });
  });

  test('how a run ended and what it cost', () => {
    const line = { calls: 2, input: 1000, output: 234 };
    const spend = { lines: [line, { ...line, calls: 1 }], own: 1234, children: 0 };
    expect(run('RunSucceeded', { spend, output: { text: 'secret' } })).toMatchObject({
      topic: 'ends',
      summary: 'ended the run: succeeded, after 3 model calls and 1,234 tokens',
    });
    expect(run('RunFailed', { termination: 'Deadline', reason: 'deadline' })).toMatchObject({
      summary: 'ended the run: failed, Deadline / deadline',
    });
    expect(run('RunCancelled', { reason: 'user', spend: { ...spend, children: 1 } })).toMatchObject({
      summary:
        'ended the run: cancelled (user), after 3 model calls and 1,234 tokens, 1 token of its subagents',
    });
  });

  test('what a control did', () => {
    const extended = { steps: 5, toolCalls: 0, tokens: 1000, seconds: 0 };
    expect(run('RunExtended', extended)).toMatchObject({
      topic: 'controls',
      summary: 'extended the run: +5 steps, +1,000 tokens',
    });
    expect(run('RunModeSet', { mode: 'plan' })).toMatchObject({ summary: "set the run's mode to plan" });
  });

  test('what a rule denied; a person’s answer is told by the approvals alone', () => {
    const decision = { decidedBy: 'rule', ruleId: 'rul_1', groupKey: null };
    const denied = { tool: 'refund', decision };
    expect(run('ToolCallDenied', denied)).toMatchObject({
      topic: 'decisions',
      summary: 'denied a call of refund (rul_1)',
    });
    expect(run('ToolCallDenied', { ...denied, approvalId: 'apr_1' })).toBeNull();
  });

  test('what a reviewer decided', () => {
    const decided = (data: object) => lineOf<ApprovalEvent>(APPROVAL_LINES, 'ApprovalDecided', data);
    const plain = { runId: 'run_1', verdict: 'approve', arguments: null, wholeGroup: false, ruleId: null };
    expect(decided(plain)).toMatchObject({ summary: 'approved the call', facts: { run_id: 'run_1' } });
    expect(decided({ ...plain, arguments: { text: '{}' }, wholeGroup: true, ruleId: 'rul_1' })).toMatchObject(
      {
        summary: 'approved the call with edited arguments for its whole group and made a rule of it',
      },
    );
    expect(decided({ ...plain, verdict: 'deny', message: { text: 'secret' } })).toMatchObject({
      summary: 'denied the call',
    });
  });

  test('who holds a task, and where its card went', () => {
    const task = (type: string, data: object) => lineOf(TASK_LINES, type as TaskEvent['type'], data);
    expect(task('TaskLockAcquired', { userId: 'u', superseded: null })).toMatchObject({
      topic: 'locks',
      kind: 'task.locked',
      summary: 'locked the task',
      facts: { owner_id: 'u' },
    });
    expect(task('CardMoved', { userId: 'u', taskId: 't', from: 'todo', column: 'doing' })).toMatchObject({
      topic: 'board',
      subject: 't',
      summary: 'moved the card from todo to doing',
    });
    expect(task('TaskCreated', { userId: 'u', column: 'todo', details: { agentId: 'a' } })).toMatchObject({
      facts: { agent_id: 'a' },
    });
  });

  test('what became of an agent', () => {
    const agent = (type: AgentEvent['type'], data: object) => lineOf(AGENT_LINES, type, data);
    expect(agent('AgentRevised', { version: 4, behaviour: { prompt: 'secret' } })).toMatchObject({
      summary: 'changed what the agent does: version 4',
    });
    expect(agent('AgentLocked', { reason: 'secret' })).toEqual({
      topic: 'locks',
      kind: 'agent.locked',
      summary: 'locked the agent',
    });
  });
});

test('steps of runs make no entries', () => {
  for (const type of ['RunStarted', 'ModelTurnCompleted', 'ToolCallStarted', 'BudgetSnapshotTaken'])
    expect(Object.hasOwn(RUN_LINES, type)).toBe(false);
});
