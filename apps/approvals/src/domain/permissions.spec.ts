import { deciderSpec } from '@runyard/testing';
import type { PermissionEvent, PermissionRule } from '@runyard/contracts';
import { NO_PERMISSIONS, decidePermissions, evolvePermissions } from './permissions';
import type { Permissions, PermissionsCommand } from './permissions';

const RULE: PermissionRule = {
  ruleId: 'rul_1',
  scope: { kind: 'agent', agentId: 'clerk' },
  tool: 'refund',
  conditions: [],
  decision: 'allow',
  groupKey: null,
  expiresAt: null,
  note: null,
  approvalId: null,
};
const given = deciderSpec<Permissions, PermissionsCommand, PermissionEvent>({
  initial: NO_PERMISSIONS,
  evolve: evolvePermissions,
  decide: decidePermissions,
});
const added = (rule: PermissionRule = RULE, actor: 'user:o1' | 'user:r1' = 'user:r1') =>
  ({ type: 'RuleAdded', data: { rule }, actor }) as const;
const removed = { type: 'RuleRemoved', data: { ruleId: 'rul_1' } } as const;
const ADMIN = { userId: 'a1', roles: ['admin'] } as const;
const REVIEWER = { userId: 'r1', roles: ['reviewer'] } as const;
const OWNER = { userId: 'o1', roles: ['member'] } as const;

const add = (more: Partial<PermissionRule> = {}, command: object = {}): PermissionsCommand => ({
  type: 'AddRule',
  asker: REVIEWER,
  rule: { ...RULE, ...more },
  ownerId: 'o1',
  now: 1_000,
  tools: null,
  ...command,
});
const remove = (command: object = {}): PermissionsCommand => ({
  type: 'RemoveRule',
  asker: REVIEWER,
  ruleId: 'rul_1',
  ownerOfAgent: 'o1',
  ...command,
});

describe('adding a rule', () => {
  it('is saying it once', () => {
    given()
      .when(add())
      .then({ type: 'RuleAdded', data: { rule: RULE } });
    given(added()).when(add()).thenNothing();
    given(added(), removed).when(add()).thenNothing();
  });

  it.each([
    ['an admin for the org', ADMIN, { scope: { kind: 'org' } }, null, true],
    ['a reviewer for the org', REVIEWER, { scope: { kind: 'org' } }, null, false],
    ['a reviewer for an agent', REVIEWER, {}, 'o1', true],
    ['an owner who denies for an own agent', OWNER, { decision: 'deny' }, 'o1', true],
    ['an owner who allows', OWNER, { decision: 'allow' }, 'o1', false],
    ['an owner who asks, which may outrank a denial', OWNER, { decision: 'ask' }, 'o1', false],
    ['a member for others', OWNER, { decision: 'deny' }, 'o2', false],
    ['an operator', { userId: 'p', roles: ['operator'] }, { decision: 'deny' }, 'o1', false],
    ['an application', { userId: null, roles: ['service'] }, { decision: 'deny' }, null, false],
  ] as const)('%s', (_, asker, more, ownerId, may) => {
    const result = given().when(add(more as Partial<PermissionRule>, { asker, ownerId }));
    if (may) expect(result.decided()).toHaveLength(1);
    else result.thenRefused('forbidden');
  });

  it('that can match nothing is refused', () => {
    given()
      .when(add({ expiresAt: 1_000 }))
      .thenRefused('invalid_request');
    given()
      .when(add({ tool: 'refnud' }, { tools: [{ name: 'refund', inputSchema: {} }] }))
      .thenRefused('invalid_request');
  });
});

describe('a rule that a decision made', () => {
  const keep = { type: 'KeepRule', rule: RULE } as const;
  it('is added once, and stays removed', () => {
    given()
      .when(keep)
      .then({ type: 'RuleAdded', data: { rule: RULE } });
    given(added()).when(keep).thenNothing();
    given(added(), removed).when(keep).thenNothing();
  });
});

describe('removing a rule', () => {
  it('is for those who may make it', () => {
    given(added()).when(remove()).then(removed);
    given(added({ ...RULE, scope: { kind: 'org' } }))
      .when(remove())
      .thenRefused('forbidden');
    given(added({ ...RULE, scope: { kind: 'org' } }))
      .when(remove({ asker: ADMIN }))
      .then(removed);
    given().when(remove()).thenRefused('not_found');
    given(added(), removed).when(remove()).thenRefused('not_found');
  });

  it('by an owner only undoes what they made themselves', () => {
    const deny = { ...RULE, decision: 'deny' } as const;
    given(added(deny, 'user:o1'))
      .when(remove({ asker: OWNER }))
      .then(removed);
    given(added(deny, 'user:r1'))
      .when(remove({ asker: OWNER }))
      .thenRefused('forbidden');
  });
});
