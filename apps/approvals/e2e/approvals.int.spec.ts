import type { ApprovalRow, Caller } from '@runyard/contracts';
import { digestOf } from '@runyard/event-log';
import { METRICS } from '@runyard/service';
import type { Metrics } from '@runyard/service';
import { eventually } from '@runyard/testing';
import { HOUR, World, codeOf } from './world';

jest.setTimeout(240_000);

let world: World;
let reviewer: Caller;
let second: Caller;
beforeAll(async () => {
  world = await World.start();
  reviewer = world.caller(['reviewer']);
  second = world.caller(['reviewer', 'member']);
});
afterAll(() => world?.stop());

const list = async (caller: Caller, input: object = {}) =>
  (await world.call<{ data: ApprovalRow[] }>('approvals.list', caller, input)).data;
const decide = (caller: Caller, id: string, input: object = { verdict: 'approve' }) =>
  world.call('approvals.decide', caller, { approval_id: id, ...input });

describe('what a run asks', () => {
  test('is listed, also after everything was started anew (OpenHands#5963, OpenHands#5608)', async () => {
    await world.run('run_listed');
    const id = await world.ask('run_listed', 'c1-0');
    const [row] = await eventually(async () => {
      const found = await list(reviewer, { run_id: 'run_listed' });
      return found.length && found;
    });
    expect(row).toMatchObject({
      approval_id: id,
      state: 'pending',
      kind: 'call',
      agent_id: 'clerk',
      owner_id: world.owner,
      tool: 'refund',
      arguments: { text: '{"amount":10,"customer":"c1-0"}' },
      group_key: 'tool:refund',
      expires_at: '2026-11-30T01:00:00.000Z',
      blocking: true,
      decided_by: null,
    });
    await Promise.all(world.apps.splice(0).map((app) => app.close()));
    await Promise.all([world.startInstance(), world.startInstance()]);
    expect(await list(reviewer, { run_id: 'run_listed' })).toEqual([row]);
  });

  test('is shown with its tool, its rule and its run, and only to those who may see it', async () => {
    const id = await world.asked('run_shown', 'c1-0', { ruleId: null });
    const shown = await eventually(() =>
      world.call('approvals.get', reviewer, { approval_id: id }).catch(() => null),
    );
    expect(shown).toMatchObject({
      approval_id: id,
      tool_definition: { name: 'refund', effect: 'write', input_schema: { required: ['amount'] } },
      changes: null,
      rule: null,
      run: null,
      last_steps: [],
    });
    const get = (caller: Caller) => codeOf(world.call('approvals.get', caller, { approval_id: id }));
    expect(await get(world.caller(['member'], world.owner))).toBe('ok');
    expect(await get(world.caller(['member']))).toBe('forbidden');
    expect(await get({ ...reviewer, org: '99999999-9999-4999-8999-999999999999' })).toBe('not_found');
    expect(await list(world.caller(['member']))).toEqual([]);
    expect((await list(world.caller(['member'], world.owner))).length).toBeGreaterThan(0);
  });

  test('comes ranked: what sets a run going, then the oldest; pages neither lose nor repeat', async () => {
    const ids = [await world.asked('run_two', 'c1-0'), await world.asked('run_two', 'c1-1')];
    world.clock.advance(1_000);
    ids.push(await world.asked('run_one', 'c1-0'));
    const filter = { agent_id: 'clerk', limit: 2 };
    const rows = await eventually(async () => {
      const all: ApprovalRow[] = [];
      let cursor: string | undefined;
      do {
        const page = await world.call<{ data: ApprovalRow[]; next_cursor: string | null }>(
          'approvals.list',
          reviewer,
          { ...filter, ...(cursor ? { cursor } : {}) },
        );
        all.push(...page.data);
        cursor = page.next_cursor ?? undefined;
      } while (cursor);
      return ids.every((id) => all.some((row) => row.approval_id === id)) && all;
    });
    expect(new Set(rows.map((row) => row.approval_id)).size).toBe(rows.length);
    const place = (id: string | undefined) => rows.findIndex((row) => row.approval_id === id);
    expect(rows[place(ids[2])]?.blocking).toBe(true);
    expect(rows[place(ids[0])]?.blocking).toBe(false);
    expect(place(ids[2])).toBeLessThan(place(ids[0]));
    const blocking = rows.map((row) => row.blocking);
    expect(blocking).toEqual(blocking.toSorted((a, b) => Number(b) - Number(a)));
  });

  test('is refused with the field where somebody wrote the cursor themselves', async () => {
    for (const [method, key] of [
      ['approvals.list', ['maybe', 'yesterday', 'apr_1']],
      ['permissions.list', ['yesterday', 'rul_1']],
    ] as const) {
      const cursor = btoa(encodeURIComponent(JSON.stringify(key)));
      await expect(world.call(method, reviewer, { cursor })).rejects.toMatchObject({
        code: 'invalid_cursor',
        facts: { errors: [expect.objectContaining({ pointer: '/cursor' })] },
      });
    }
  });
});

describe('a decision', () => {
  test('of two reviewers at once: exactly one wins, the other is told it (agenthub#41)', async () => {
    for (let round = 0; round < 25; round++) {
      const id = await world.asked(`run_race_${round}`, 'c1-0');
      const outcomes = await Promise.allSettled([
        decide(reviewer, id),
        decide(second, id, { verdict: 'deny', message: 'no' }),
      ]);
      const lost = outcomes.filter((one) => one.status === 'rejected');
      expect(lost).toHaveLength(1);
      expect(await world.types(id)).toEqual(['ApprovalOpened', 'ApprovalDecided']);
      const [, first] = await world.events(id);
      expect(lost[0]?.reason).toMatchObject({
        code: 'approval_decided',
        facts: { decided_by: first?.actor },
      });
    }
  });

  test('is by the credential, never by the body (edictum-console#19)', async () => {
    const id = await world.asked('run_who', 'c1-0');
    const forged = { verdict: 'approve', decided_by: 'user:somebody-else' };
    expect(await codeOf(decide(reviewer, id, forged))).toBe('invalid_request');
    for (const [caller, code] of [
      [world.caller(['member'], world.owner), 'forbidden'],
      [world.caller(['operator']), 'forbidden'],
      [world.caller(['reviewer'], null), 'forbidden'],
      [{ ...reviewer, org: '99999999-9999-4999-8999-999999999999' }, 'not_found'],
    ] as const)
      expect(await codeOf(decide(caller, id))).toBe(code);
    expect(await world.types(id)).toEqual(['ApprovalOpened']);
    expect(await decide(reviewer, id)).toMatchObject({
      decided_by: reviewer.actor,
      verdict: 'approve',
      edited: false,
    });
    expect(await codeOf(decide(reviewer, id))).toBe('ok');
    expect(await world.types(id)).toEqual(['ApprovalOpened', 'ApprovalDecided']);
  });

  test('C39 with edited arguments is checked against the tool, hashed anew and shown as a diff (extra-org/extra#139)', async () => {
    const id = await world.asked('run_edit', 'c1-0');
    const wrong = { verdict: 'approve', arguments: { amount: 1_000, note: 'x' } };
    const refusal = await decide(reviewer, id, wrong).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ code: 'invalid_request' });
    expect(JSON.stringify(refusal)).toContain('/arguments/amount');
    const edited = { amount: 5, customer: 'c1-0' };
    const answer = await decide(reviewer, id, { verdict: 'approve', arguments: edited });
    expect(answer).toMatchObject({ arguments_digest: digestOf(edited), edited: true });
    const shown = await world.call('approvals.get', reviewer, { approval_id: id, at_least: answer.position });
    expect(shown).toMatchObject({
      state: 'approved',
      arguments: { text: '{"amount":10,"customer":"c1-0"}' },
      edited_arguments: { text: '{"amount":5,"customer":"c1-0"}' },
      changes: [{ pointer: '/amount', proposed: 10, edited: 5 }],
    });
    expect((await world.events(id))[1]?.data).toMatchObject({ argumentsDigest: digestOf(edited) });
  });

  test('C40 goes to its own call, in whatever order (langchain-ai/langgraph#6533)', async () => {
    const [a, b] = [await world.asked('run_par', 'c1-0'), await world.asked('run_par', 'c1-1')];
    await Promise.all([decide(reviewer, b), decide(second, a, { verdict: 'deny', message: 'not A' })]);
    const later = await world.asked('run_par', 'c2-0');
    expect(new Set([a, b, later]).size).toBe(3);
    expect((await world.events(a))[1]?.data).toMatchObject({
      callId: 'c1-0',
      verdict: 'deny',
      message: { text: 'not A' },
    });
    expect((await world.events(b))[1]?.data).toMatchObject({ callId: 'c1-1', verdict: 'approve' });
    expect(await world.types(later)).toEqual(['ApprovalOpened']);
  });

  test('for the group answers the open members, and leaves what was decided', async () => {
    const ids: string[] = [];
    for (const callId of ['c1-0', 'c1-1', 'c1-2']) ids.push(await world.asked('run_group', callId));
    const other = await world.asked('run_group', 'c1-3', { groupKey: 'other' });
    const [first = '', denied = '', member = ''] = ids;
    await decide(second, denied, { verdict: 'deny' });
    await decide(reviewer, first, { verdict: 'approve', whole_group: true });
    const decision = { decidedBy: reviewer.actor, ruleId: null, groupKey: 'tool:refund' };
    await world.append('runs', 'run_group', [
      { type: 'GroupApproved', data: { groupKey: 'tool:refund', approvalId: first, decision } },
    ]);
    await eventually(async () => (await world.types(member)).length === 2);
    expect((await world.events(member))[1]).toMatchObject({
      actor: reviewer.actor,
      data: { verdict: 'approve', groupOf: first, callId: 'c1-2' },
    });
    expect((await world.events(denied))[1]?.data).toMatchObject({ verdict: 'deny' });
    expect(await world.types(other)).toEqual(['ApprovalOpened']);
  });

  test('about an ambiguous call says done, repeat or fail', async () => {
    const id = await world.asked('run_lost', 'c1-0', { kind: 'ambiguous' });
    expect(await codeOf(decide(reviewer, id))).toBe('invalid_request');
    expect(await codeOf(decide(reviewer, id, { verdict: 'done' }))).toBe('invalid_request');
    await decide(reviewer, id, { verdict: 'done', message: 'paid as 7' });
    expect((await world.events(id))[1]?.data).toMatchObject({
      verdict: 'done',
      message: { text: 'paid as 7' },
    });
  });
});

describe('C41 nobody answered in time (use-agent-os/agent-os#1564)', () => {
  test('is its own outcome, by the system, and a late answer is refused (opencompany#1449, zeroclaw#9642, agent-os#1563)', async () => {
    const id = await world.asked('run_late', 'c1-0');
    const kept = await world.asked('run_late', 'c1-1', { expiresAt: world.clock.now() + 10 * HOUR });
    world.clock.advance(HOUR - 1);
    expect(await world.types(id)).toEqual(['ApprovalOpened']);
    world.clock.advance(1);
    expect(await codeOf(decide(reviewer, id))).toBe('approval_expired');
    expect(await world.types(id)).toEqual(['ApprovalOpened', 'ApprovalExpired']);
    expect((await world.events(id))[1]?.actor).toBe('system:approvals');
    const row = await eventually(async () => {
      const [found] = await list(reviewer, { run_id: 'run_late', state: 'expired' });
      return found;
    });
    expect(row).toMatchObject({
      approval_id: id,
      state: 'expired',
      verdict: null,
      decided_by: 'system:approvals',
    });
    expect(await world.types(kept)).toEqual(['ApprovalOpened']);
    expect(await codeOf(decide(reviewer, kept))).toBe('ok');
  });

  test('expires by the timer alone', async () => {
    const id = await world.asked('run_timer', 'c1-0');
    world.clock.advance(HOUR);
    await eventually(async () => (await world.types(id)).length === 2);
    expect((await world.events(id))[1]).toMatchObject({ type: 'ApprovalExpired', actor: 'system:approvals' });
  });

  test('timer and answer raced a hundred times: exactly one end', async () => {
    const ends = { ApprovalDecided: 0, ApprovalExpired: 0 };
    for (let round = 0; round < 100; round++) {
      const id = await world.asked(`run_edge_${round}`, 'c1-0', { expiresAt: world.clock.now() + 1_000 });
      const deciding = codeOf(decide(reviewer, id));
      world.clock.advance(round % 2 === 0 ? 1_000 : 999);
      const code = await deciding;
      world.clock.advance(1);
      const types = await eventually(async () => {
        const found = await world.types(id);
        return found.length > 1 && found;
      });
      expect(types).toHaveLength(2);
      expect([code, types[1]]).toEqual(
        code === 'ok' ? ['ok', 'ApprovalDecided'] : ['approval_expired', 'ApprovalExpired'],
      );
      ends[types[1] as keyof typeof ends]++;
    }
    expect(ends.ApprovalDecided + ends.ApprovalExpired).toBe(100);
  });

  test('a run that ended takes its questions with it, even before they are withdrawn', async () => {
    const id = await world.asked('run_gone', 'c1-0');
    await world.append('runs', 'run_gone', [{ type: 'RunCancelled', data: { reason: 'user' } }]);
    expect(await codeOf(decide(reviewer, id))).toBe('approval_withdrawn');
    await eventually(async () => (await world.types(id)).length === 2);
    expect(await world.types(id)).toEqual(['ApprovalOpened', 'ApprovalWithdrawn']);
    await eventually(async () => (await list(reviewer, { run_id: 'run_gone' })).length === 0);
  });

  test('a run that ended is noticed by the reaction alone', async () => {
    const ids = [await world.asked('run_over', 'c1-0'), await world.asked('run_over', 'c1-1')];
    await decide(reviewer, ids[0] ?? '');
    await world.append('runs', 'run_over', [
      {
        type: 'RunFailed',
        data: { termination: 'Deadline', reason: 'deadline', error: { code: 'x', text: 'x' } },
      },
    ]);
    await eventually(async () => (await world.types(ids[1] ?? '')).length === 2);
    expect((await world.events(ids[1] ?? ''))[1]?.data).toMatchObject({ reason: 'run_failed: deadline' });
    expect((await world.types(ids[0] ?? ''))[1]).toBe('ApprovalDecided');
  });
});

test('what waits is counted for operators', async () => {
  await world.asked('run_counted', 'c1-0');
  await eventually(
    async () => {
      const text = await world.apps[0]?.get<Metrics>(METRICS, { strict: false }).registry.metrics();
      return /runyard_approvals_pending\{service="approvals"\} [1-9]/.test(text ?? '');
    },
    { withinMs: 90_000 },
  );
});
