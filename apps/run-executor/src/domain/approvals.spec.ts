import type { NewRunEvent } from './decision';
import { AskingRun, TTL_MS } from './e2e/asking';
import { messagesOf } from './transcript';

const ID = 'apr_c1-0_call_1';
const find = <T extends NewRunEvent['type']>(run: AskingRun, type: T) =>
  run.log.findLast((event): event is Extract<NewRunEvent, { type: T }> => event.type === type);

describe('a call that needs a decision', () => {
  it('is asked about, and the run parks when nothing else is under way', () => {
    const run = new AskingRun().asks(['write', '{"n":1}']);
    expect(run.since()).toEqual(['ApprovalRequested', 'RunAwaitingApproval']);
    expect(find(run, 'ApprovalRequested')?.data).toEqual({
      approvalId: ID,
      kind: 'call',
      callId: 'c1-0',
      step: 1,
      tool: 'write',
      arguments: { text: '{"n":1}' },
      argumentsDigest: 'd:{"n":1}',
      ruleId: null,
      groupKey: null,
      policyVersion: 1,
      expiresAt: run.now + TTL_MS,
    });
    expect(run.live).toMatchObject({ situation: 'awaiting_approval', runningSince: null, toolCalls: 1 });
  });

  it('lets the other calls of its turn run first', () => {
    const run = new AskingRun().asks('read', 'write', 'read');
    expect(run.since()).toEqual([
      'BudgetSnapshotTaken',
      'ToolCallStarted',
      'ApprovalRequested',
      'ToolCallStarted',
    ]);
    expect(run.returns('c1-0').live.situation).toBe('running');
    expect(run.returns('c1-2').live.situation).toBe('awaiting_approval');
  });

  it('goes out as approved, under its own grant, and the answer wakes the run', () => {
    const run = new AskingRun().asks('write');
    run.answered({ approvalId: ID, verdict: 'approve' });
    expect(run.live).toMatchObject({ situation: 'running', woken: true });
    run.claimed('next');
    expect(find(run, 'ToolCallStarted')?.data).toMatchObject({
      callId: 'c1-0',
      argumentsDigest: 'd:{}',
      decision: { decidedBy: 'user:reviewer', ruleId: null, groupKey: null },
      grant: { approvalId: ID, policyVersion: 1 },
    });
  });

  it('is sent with the arguments of the reviewer', () => {
    const run = new AskingRun().asks('write');
    const edited = { arguments: { text: '{"n":2}' }, argumentsDigest: 'd:{"n":2}' };
    run.answered({ approvalId: ID, verdict: 'approve', ...edited });
    run.claimed('next');
    expect(run.call('c1-0')).toMatchObject({ status: 'in_flight', arguments: '{"n":2}' });
    expect(find(run, 'ToolCallStarted')?.data.argumentsDigest).toBe('d:{"n":2}');
  });

  it('asks again where the arguments are not those that the grant is for', () => {
    const run = new AskingRun().asks('write');
    run.answered({
      approvalId: ID,
      verdict: 'approve',
      arguments: { text: '{"n":2}' },
      argumentsDigest: 'd:{"n":3}',
    });
    run.claimed('next');
    expect(run.types()).not.toContain('ToolCallStarted');
    expect(find(run, 'ApprovalRequested')?.data).toMatchObject({
      approvalId: 'apr_c1-0_call_2',
      argumentsDigest: 'd:{"n":2}',
    });
  });

  it('asks again where the grant has expired before the call could go out', () => {
    const run = new AskingRun().asks('write');
    run.answered({ approvalId: ID, verdict: 'approve' });
    run.now += TTL_MS + 1;
    run.claimed('next');
    expect(run.types()).not.toContain('ToolCallStarted');
    expect(run.live.situation).toBe('awaiting_approval');
  });

  it('shows the model what the reviewer said where it is denied', () => {
    const run = new AskingRun().asks('write');
    run.answered({ approvalId: ID, verdict: 'deny', message: { text: 'Ask the customer first.' } });
    run.claimed('next');
    expect(messagesOf(run.live.transcript).at(-1)).toMatchObject({
      role: 'tool',
      text: 'Ask the customer first.',
    });
    expect(find(run, 'ToolCallDenied')?.data).toMatchObject({
      approvalId: ID,
      decision: { decidedBy: 'user:reviewer' },
    });
    expect(run.live.phase.name).toBe('calling_model');
  });

  it('ends the run when nobody decides in time, which is no denial', () => {
    const run = new AskingRun().asks('write', 'put');
    run.answered({ approvalId: ID, verdict: 'expire' });
    expect(run.since().slice(-3)).toEqual(['ToolCallDenied', 'ToolCallCancelled', 'RunFailed']);
    expect(find(run, 'ToolCallDenied')?.data).toMatchObject({
      observation: { text: 'Expired, not run: nobody decided in time.' },
      decision: { decidedBy: 'system:expiry' },
    });
    expect(find(run, 'RunFailed')?.data).toMatchObject({
      termination: 'ConfirmationPending',
      reason: 'approval_expired',
    });
  });

  it('leaves it to the driver to end a run that has expired while other calls are under way', () => {
    const run = new AskingRun().asks('write', 'read');
    run.answered({ approvalId: ID, verdict: 'expire' });
    expect(run.live.situation).toBe('running');
    run.returns('c1-1');
    expect(run.since().at(-1)).toBe('RunFailed');
  });

  it('ends the run at once under the policy "end", with the question on record', () => {
    const run = new AskingRun({ policy: 'end' }).asks('read', 'write');
    expect(run.since()).toEqual(['ApprovalRequested', 'ToolCallCancelled', 'ToolCallCancelled', 'RunFailed']);
    expect(find(run, 'RunFailed')?.data).toMatchObject({ reason: 'confirmation_required' });
  });
});

describe('several questions of one turn', () => {
  it('are answered independently, each for its own call', () => {
    const run = new AskingRun().asks(['write', '1'], ['write', '2'], ['write', '3']);
    run.answered({ approvalId: 'apr_c1-1_call_1', verdict: 'approve' });
    run.claimed('next');
    expect(run.call('c1-1').status).toBe('in_flight');
    run.answered({ approvalId: ID, verdict: 'deny' });
    run.returns('c1-1');
    expect(run.live.situation).toBe('awaiting_approval');
    run.answered({ approvalId: 'apr_c1-2_call_1', verdict: 'approve' });
    run.claimed('again').returns('c1-2');
    const results = messagesOf(run.live.transcript).flatMap((message) =>
      message.role === 'tool' ? [message.text] : [],
    );
    expect(results).toEqual(['Denied by a reviewer, not run.', 'ok', 'ok']);
  });

  it('that are one group are answered together, and later ones of it do not arise', () => {
    const run = new AskingRun({ rules: { write: 'ask' } }).asks('write', 'write');
    run.answered({ approvalId: ID, verdict: 'approve', wholeGroup: true });
    expect(run.since().slice(-3)).toEqual(['GroupApproved', 'CallApproved', 'CallApproved']);
    run.claimed('next').returns('c1-0').returns('c1-1').asks('write');
    expect(run.call('c2-0')).toMatchObject({ status: 'in_flight' });
    expect(find(run, 'ToolCallStarted')?.data.decision).toEqual({
      decidedBy: 'user:reviewer',
      ruleId: 'r-write',
      groupKey: 'g-write',
    });
  });

  it('leave an earlier decision on one of a group alone', () => {
    const run = new AskingRun({ rules: { write: 'ask' } }).asks('write', 'write');
    run.answered({ approvalId: 'apr_c1-1_call_1', verdict: 'deny' });
    run.answered({ approvalId: ID, verdict: 'approve', wholeGroup: true });
    expect(run.call('c1-1').outcome).toBe('denied');
  });
});

describe('an answer', () => {
  it('that arrives before the run parks prevents it (P5.2)', () => {
    const run = new AskingRun().asks('read', 'write');
    run.answered({ approvalId: 'apr_c1-1_call_1', verdict: 'approve' });
    run.happens();
    expect(run.call('c1-1').status).toBe('in_flight');
    run.returns('c1-0').returns('c1-1');
    expect(run.types()).not.toContain('RunAwaitingApproval');
  });

  it('said twice, or about a question that is closed, changes nothing', () => {
    const run = new AskingRun().asks('write');
    run.answered({ approvalId: ID, verdict: 'approve' });
    expect(run.answered({ approvalId: ID, verdict: 'approve' })).toEqual([]);
    expect(run.answered({ approvalId: ID, verdict: 'deny' })).toEqual([]);
    expect(run.answered({ approvalId: 'apr_other', verdict: 'approve' })).toEqual([]);
    run.claimed('next').control({ type: 'CancelRun', reason: 'user' });
    expect(run.answered({ approvalId: ID, verdict: 'expire' })).toEqual([]);
  });

  it('is kept while the run is paused', () => {
    const run = new AskingRun().asks('write').control({ type: 'PauseRun', expiresAt: 1e12 });
    expect(run.live.situation).toBe('paused');
    run.answered({ approvalId: ID, verdict: 'approve' });
    expect(run.live.situation).toBe('paused');
    run.control({ type: 'ResumeRun' }).claimed('next');
    expect(run.call('c1-0').status).toBe('in_flight');
  });
});

describe('a grant', () => {
  it('is void where rules deny by the time of dispatch, and holds where the policy has merely changed (P4.3)', () => {
    const denied = new AskingRun().asks('write');
    denied.answered({ approvalId: ID, verdict: 'approve' });
    denied.rules = { write: 'deny' };
    denied.claimed('next');
    expect(denied.types()).not.toContain('ToolCallStarted');
    expect(find(denied, 'ToolCallDenied')?.data.decision).toMatchObject({ ruleId: 'r-write' });

    const changed = new AskingRun().asks('write');
    changed.answered({ approvalId: ID, verdict: 'approve' });
    changed.rules = { write: 'ask', read: 'deny' };
    changed.policyVersion = 7;
    changed.claimed('next');
    expect(find(changed, 'ToolCallStarted')?.data.grant).toMatchObject({ policyVersion: 1 });
  });

  it('is void in mode "plan"', () => {
    const run = new AskingRun().asks('write');
    run.answered({ approvalId: ID, verdict: 'approve' });
    run.control({ type: 'SetMode', mode: 'plan' }).claimed('next');
    expect(run.types()).not.toContain('ToolCallStarted');
    expect(find(run, 'ToolCallDenied')?.data.decision.decidedBy).toBe('mode:plan');
  });
});

describe('a mode that is set while the run waits', () => {
  it('"auto" lets what is open go out', () => {
    const run = new AskingRun().asks('write').control({ type: 'SetMode', mode: 'auto' });
    expect(run.live).toMatchObject({ situation: 'running', woken: true });
    run.claimed('next');
    expect(find(run, 'ToolCallStarted')?.data.decision.decidedBy).toBe('mode:auto');
    expect(run.answered({ approvalId: ID, verdict: 'deny' })).toEqual([]);
  });

  it('"plan" denies it, and a rule that asks goes on asking', () => {
    const plan = new AskingRun().asks('write').control({ type: 'SetMode', mode: 'plan' }).claimed('next');
    expect(plan.types()).toContain('ToolCallDenied');
    const ruled = new AskingRun({ rules: { write: 'ask' } }).asks('write');
    ruled.control({ type: 'SetMode', mode: 'auto' }).claimed('next');
    expect(ruled.live.situation).toBe('awaiting_approval');
  });
});

describe('controls of a run that waits for decisions', () => {
  const waiting = () => new AskingRun().asks('write');

  it('cancel ends it, with the call not run', () => {
    const run = waiting().control({ type: 'CancelRun', reason: 'user' });
    expect(run.since().slice(-3)).toEqual(['RunCancelRequested', 'ToolCallCancelled', 'RunCancelled']);
  });

  it('resume is refused with the reason', () => {
    expect(() => waiting().control({ type: 'ResumeRun' })).toThrow('waits for decisions');
  });

  it('extend said twice with one key adds once, and does not wake it', () => {
    const run = waiting();
    const extend = { type: 'ExtendRun', steps: 2, toolCalls: 0, tokens: 0, seconds: 0, key: 'k' } as const;
    run.control(extend).control(extend);
    expect(run.live).toMatchObject({ situation: 'awaiting_approval', bounds: { maxSteps: 11 } });
    expect(run.control({ ...extend, key: 'l' }).live.bounds.maxSteps).toBe(13);
  });

  it('time that it waits does not count towards its deadline (P5.7)', () => {
    const run = waiting();
    const used = run.live.usedMilliseconds;
    run.now += 900;
    run.answered({ approvalId: ID, verdict: 'approve' });
    run.claimed('next');
    expect(run.live.usedMilliseconds).toBe(used);
  });
});

describe('a call that nobody knows the outcome of', () => {
  const lost = () => {
    const run = new AskingRun({ mode: 'auto' }).asks('write', 'read');
    run.returns('c1-1');
    return run.claimed('heir');
  };
  const AMBIGUOUS = 'apr_c1-0_ambiguous_1';

  it('becomes a question', () => {
    const run = lost();
    expect(run.since().slice(-3)).toEqual(['ToolCallAmbiguous', 'ApprovalRequested', 'RunAwaitingApproval']);
    expect(find(run, 'ApprovalRequested')?.data).toMatchObject({ approvalId: AMBIGUOUS, kind: 'ambiguous' });
  });

  it('done: the given result stands for it', () => {
    const run = lost();
    run.answered({ approvalId: AMBIGUOUS, verdict: 'done', message: { text: 'Booked as B7.' } });
    run.claimed('next');
    expect(messagesOf(run.live.transcript).at(-2)).toMatchObject({ role: 'tool', text: 'Booked as B7.' });
    expect(find(run, 'ToolCallSucceeded')?.data.resolution).toMatchObject({ approvalId: AMBIGUOUS });
  });

  it('repeat: it goes out again under a grant of its own', () => {
    const run = lost();
    run.answered({ approvalId: AMBIGUOUS, verdict: 'repeat' });
    run.claimed('next');
    expect(find(run, 'ToolCallStarted')?.data).toMatchObject({
      callId: 'c1-0',
      attempt: 2,
      decision: { decidedBy: 'user:reviewer' },
      grant: { approvalId: AMBIGUOUS },
    });
  });

  it('fail: the model sees that it failed', () => {
    const run = lost();
    run.answered({ approvalId: AMBIGUOUS, verdict: 'fail' });
    run.claimed('next');
    expect(run.live.phase.name).toBe('calling_model');
  });

  it('is not said to be "not run" where the run is cancelled', () => {
    const run = lost().control({ type: 'CancelRun', reason: 'user' });
    expect(run.types()).not.toContain('ToolCallCancelled');
  });

  it('ends the run under the policy "end"', () => {
    const run = new AskingRun({ mode: 'auto', policy: 'end' }).asks('write').claimed('heir');
    expect(find(run, 'RunFailed')?.data.reason).toBe('unknown_effect');
  });
});
