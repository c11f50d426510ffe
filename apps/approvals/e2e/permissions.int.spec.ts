import type { ApprovalRow, Caller, EvaluationRow, LogStream, RuleRow } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import { rebuildAndCompare } from '@runyard/persistence';
import { eventually } from '@runyard/testing';
import { APPROVALS_PROJECTIONS } from '../src/projections';
import { HOUR, World, codeOf } from './world';

jest.setTimeout(120_000);

let world: World;
let admin: Caller;
let reviewer: Caller;
let owner: Caller;
beforeAll(async () => {
  world = await World.start(1);
  admin = world.caller(['admin']);
  reviewer = world.caller(['reviewer']);
  owner = world.caller(['member'], world.owner);
});
afterAll(() => world?.stop());

const ORG = { scope: { kind: 'org' }, tool: 'refund', decision: 'ask' } as const;
const add = (caller: Caller, rule: object) => world.call<RuleRow>('permissions.add', caller, rule);
const rules = async (input: object = {}) =>
  (await world.call<{ data: RuleRow[] }>('permissions.list', owner, input)).data;
const evaluate = (caller: Caller, input: object = {}) =>
  world.call<EvaluationRow>('permissions.evaluate', caller, { agent_id: 'clerk', tool: 'refund', ...input });
const decide = (caller: Caller, id: string, input: object) =>
  world.call('approvals.decide', caller, { approval_id: id, ...input });

describe('permission rules', () => {
  test('are added, listed, read, removed, and stay readable', async () => {
    const rule = await add(admin, {
      ...ORG,
      conditions: [{ at: '/amount', is: 'at_least', value: 50 }],
      group_key: 'refund:{/customer}',
      note: 'large ones',
    });
    expect(rule).toMatchObject({
      ...ORG,
      author: admin.actor,
      group_key: 'refund:{/customer}',
      approval_id: null,
    });
    const [row] = await rules({ at_least: rule.position });
    expect(row).toEqual(rule);
    expect(await rules({ tool: 'refund' })).toHaveLength(1);
    expect(await rules({ tool: 'other' })).toEqual([]);
    const { position } = await world.call('permissions.remove', admin, { rule_id: rule.rule_id });
    expect(await rules({ at_least: position })).toEqual([]);
    expect(
      await world.call('permissions.get', owner, { rule_id: rule.rule_id, at_least: position }),
    ).toMatchObject({ rule_id: rule.rule_id, removed_by: admin.actor });
    expect(await codeOf(world.call('permissions.remove', admin, { rule_id: rule.rule_id }))).toBe(
      'not_found',
    );
  });

  test('are made by those who may, and by nobody of another org', async () => {
    const clerk = { scope: { kind: 'agent', agent_id: 'clerk' }, tool: 'refund' };
    expect(await codeOf(add(reviewer, ORG))).toBe('forbidden');
    expect(await codeOf(add(owner, { ...clerk, decision: 'allow' }))).toBe('forbidden');
    expect(await codeOf(add(world.caller(['member']), { ...clerk, decision: 'deny' }))).toBe('forbidden');
    const own = await add(owner, { ...clerk, decision: 'deny' });
    const elsewhere = { ...admin, org: '99999999-9999-4999-8999-999999999999' };
    expect(await codeOf(world.call('permissions.remove', elsewhere, { rule_id: own.rule_id }))).toBe(
      'not_found',
    );
    expect(await codeOf(world.call('permissions.get', elsewhere, { rule_id: own.rule_id }))).toBe(
      'not_found',
    );
    expect((await world.call<{ data: unknown[] }>('permissions.list', elsewhere, {})).data).toEqual([]);
    expect(await codeOf(world.call('permissions.remove', owner, { rule_id: own.rule_id }))).toBe('ok');
  });

  test('that can match nothing are refused, each place named', async () => {
    const refusal = (rule: object) =>
      add(admin, { ...ORG, ...rule }).catch((error: unknown) => JSON.stringify(error));
    expect(await refusal({ tool: 'refnud' })).toContain('no tool is called refnud');
    expect(await refusal({ conditions: [{ at: '/amonut', is: 'present' }] })).toContain('/conditions/0');
    expect(await refusal({ expires_at: '2026-01-01T00:00:00Z' })).toContain('/expires_at');
    expect(await refusal({ scope: { kind: 'agent', agent_id: 'nobody' } })).toContain('not_found');
    const never = [
      { at: '/amount', is: 'at_most', value: 1 },
      { at: '/amount', is: 'at_least', value: 2 },
    ];
    expect(await refusal({ conditions: never })).toContain('/conditions/1');
    expect(await codeOf(add(admin, { ...ORG, tool: 'knowledge_*' }))).toBe('ok');
  });
});

describe('what would decide a call, and why', () => {
  test('is answered with every rule and recorded nowhere', async () => {
    const before = (await world.servers.bus.log.state('APPROVALS')).lastSequence;
    expect(await evaluate(owner)).toMatchObject({
      decision: 'ask',
      decided_by: 'mode:ask',
      mode: 'ask',
      effect: 'write',
    });
    expect(await evaluate(owner, { mode: 'plan' })).toMatchObject({
      decision: 'deny',
      decided_by: 'mode:plan',
    });
    expect((await world.servers.bus.log.state('APPROVALS')).lastSequence).toBe(before);
    const deny = await add(admin, {
      ...ORG,
      decision: 'deny',
      conditions: [{ at: '/amount', is: 'at_least', value: 90 }],
    });
    const found = await evaluate(reviewer, { arguments: { amount: 95 }, mode: 'auto' });
    expect(found).toMatchObject({ decision: 'deny', rule_id: deny.rule_id });
    expect(found.considered).toContainEqual({
      rule_id: deny.rule_id,
      result: 'won',
      says: 'deny',
      why: 'it matches and is the most specific',
    });
    expect(await evaluate(reviewer, { arguments: { amount: 5 }, mode: 'auto' })).toMatchObject({
      decision: 'allow',
    });
    await world.call('permissions.remove', admin, { rule_id: deny.rule_id });
  });

  test('is for those who may see the agent', async () => {
    expect(await codeOf(evaluate(world.caller(['member'])))).toBe('forbidden');
    expect(await codeOf(evaluate(reviewer, { agent_id: 'nobody' }))).toBe('not_found');
    expect(await codeOf(evaluate(reviewer, { tool: 'unknown' }))).toBe('invalid_request');
    expect(await codeOf(evaluate(reviewer, { tool: 'unknown', effect: 'read' }))).toBe('ok');
  });
});

describe('an approval that makes a rule (dam#942)', () => {
  test('allows such calls from then on, in its maker’s name, once', async () => {
    const id = await world.asked('run_rule', 'c1-0');
    const rule = { conditions: [{ at: '/amount', is: 'at_most', value: 20 }], note: 'small ones' };
    const answer = await decide(reviewer, id, { verdict: 'approve', rule });
    await decide(reviewer, id, { verdict: 'approve', rule });
    const ofApproval = async () =>
      (await rules({ agent_id: 'clerk' })).filter((one) => one.approval_id === id);
    await eventually(async () => (await ofApproval()).length > 0);
    const made = await ofApproval();
    expect(made).toHaveLength(1);
    expect(made[0]).toMatchObject({
      rule_id: answer.made_rule_id,
      scope: { kind: 'agent', agent_id: 'clerk' },
      tool: 'refund',
      decision: 'allow',
      author: reviewer.actor,
      note: 'small ones',
    });
    expect(await evaluate(owner, { arguments: { amount: 20 } })).toMatchObject({
      decision: 'allow',
      rule_id: answer.made_rule_id,
    });
    expect(await evaluate(owner, { arguments: { amount: 21 } })).toMatchObject({ decision: 'ask' });
    await world.call('permissions.remove', admin, { rule_id: answer.made_rule_id });
  });

  test('never goes against one that denies, and must do what its maker is told (agentric PR#68)', async () => {
    const id = await world.asked('run_deny', 'c1-0');
    const deny = await add(admin, { ...ORG, decision: 'deny' });
    const refusal = await decide(reviewer, id, { verdict: 'approve', rule: {} }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toMatchObject({ code: 'rule_outranks_deny', facts: { rule_id: deny.rule_id } });
    await world.call('permissions.remove', admin, { rule_id: deny.rule_id });
    const ask = await add(reviewer, {
      scope: { kind: 'agent', agent_id: 'clerk' },
      tool: 'refund',
      decision: 'ask',
    });
    expect(await codeOf(decide(reviewer, id, { verdict: 'approve', rule: {} }))).toBe('invalid_request');
    const elsewhere = { conditions: [{ at: '/amount', is: 'at_least', value: 99 }] };
    expect(await codeOf(decide(reviewer, id, { verdict: 'approve', rule: elsewhere }))).toBe(
      'invalid_request',
    );
    expect(await codeOf(decide(reviewer, id, { verdict: 'approve', rule: { scope: { kind: 'org' } } }))).toBe(
      'forbidden',
    );
    expect(await world.types(id)).toEqual(['ApprovalOpened']);
    await world.call('permissions.remove', admin, { rule_id: ask.rule_id });
    expect(await codeOf(decide(reviewer, id, { verdict: 'approve' }))).toBe('ok');
  });

  test('adds it though the process died right after the decision', async () => {
    const id = await world.asked('run_died', 'c1-0');
    const rule = {
      ruleId: `rul_${'7'.repeat(26)}`,
      scope: { kind: 'agent', agentId: 'clerk' },
      tool: 'refund',
      conditions: [],
      decision: 'allow',
      groupKey: null,
      expiresAt: world.clock.now() + HOUR,
      note: null,
      approvalId: id,
    };
    const data = { runId: 'run_died', callId: 'c1-0', verdict: 'approve', ruleId: rule.ruleId, rule };
    const rest = { arguments: null, argumentsDigest: 'd', message: null, wholeGroup: false, groupKey: null };
    await world.append('approvals', id, [{ type: 'ApprovalDecided', data: { ...data, ...rest } }]);
    await eventually(async () => (await rules()).some((one) => one.rule_id === rule.ruleId));
    await world.call('permissions.remove', admin, { rule_id: rule.ruleId });
  });
});

test('rows equal their replay', async () => {
  const id = await world.asked('run_odd', 'c1-0', {
    groupKey: 'nul \u0000 and \ud800',
    arguments: { text: '"\u0000"' },
  });
  const odd = await eventually(async () => {
    const { data } = await world.call<{ data: ApprovalRow[] }>('approvals.list', reviewer, {
      run_id: 'run_odd',
    });
    return data[0];
  });
  expect(odd).toMatchObject({ approval_id: id, arguments: { text: '"\u0000"' } });
  for (const { projection, schema, tables } of APPROVALS_PROJECTIONS) {
    const source = streamSource(world.servers.bus.log, projection.stream as LogStream);
    const { tables: compared, position } = await rebuildAndCompare({
      ownerUrl: world.servers.database.ownerUrl,
      schema,
      tables,
      projection,
      source,
    });
    if (projection.stream === 'APPROVALS') expect(position).toBeGreaterThan(0);
    for (const table of compared) expect(table).toMatchObject({ missing: 0, extra: 0 });
  }
});
