import type { CallInQuestion } from './call-decision';
import { decideCall } from './call-decision';
import type { PermissionRule, RuleDecision, StandingRule } from './permission.events';
import { NO_POLICY, evolvePolicy } from './permission.events';
import { addRuleSchema, conditionSchema } from './permission.requests';
import { ruleRefusals } from './rule-refusals';

const rule = (ruleId: string, decision: RuleDecision, more: Partial<StandingRule> = {}): StandingRule => ({
  ruleId,
  scope: { kind: 'org' },
  tool: '*',
  conditions: [],
  decision,
  groupKey: null,
  expiresAt: null,
  note: null,
  approvalId: null,
  author: 'user:a',
  addedAt: 0,
  ...more,
});
const CALL: CallInQuestion = {
  agentId: 'clerk',
  ownerId: 'o1',
  tool: 'refund',
  effect: 'write',
  arguments: { amount: 10, customer: 'c1' },
  mode: 'ask',
  now: 1_000,
};
const decide = (rules: StandingRule[], call: Partial<CallInQuestion> = {}) =>
  decideCall({ version: rules.length, rules }, { ...CALL, ...call });
const agent = { kind: 'agent', agentId: 'clerk' } as const;
const owner = { kind: 'owner', ownerId: 'o1' } as const;

describe('modes without rules', () => {
  it.each([
    ['plan', 'write', 'deny', 'mode:plan'],
    ['plan', 'read', 'allow', 'system:reads'],
    ['ask', 'write', 'ask', 'mode:ask'],
    ['ask', 'read', 'allow', 'system:reads'],
    ['auto', 'write', 'allow', 'mode:auto'],
    ['auto', 'read', 'allow', 'system:reads'],
  ] as const)('%s and a tool that %ss: %s by %s', (mode, effect, decision, decidedBy) => {
    expect(decide([], { mode, effect })).toMatchObject({ decision, decidedBy, ruleId: null, considered: [] });
  });

  it('groups what the mode asks by tool', () => expect(decide([]).groupKey).toBe('tool:refund'));
});

describe('the most specific rule wins', () => {
  it.each<[string, StandingRule[], RuleDecision, string]>([
    [
      'agent before owner',
      [rule('a', 'deny', { scope: owner }), rule('b', 'allow', { scope: agent })],
      'allow',
      'b',
    ],
    ['owner before org', [rule('a', 'deny'), rule('b', 'allow', { scope: owner })], 'allow', 'b'],
    [
      'scope before tool',
      [rule('a', 'deny', { tool: 'refund' }), rule('b', 'allow', { scope: agent })],
      'allow',
      'b',
    ],
    [
      'a name before a pattern',
      [rule('a', 'deny', { tool: 'refun*' }), rule('b', 'allow', { tool: 'refund' })],
      'allow',
      'b',
    ],
    [
      'a longer pattern before a shorter',
      [rule('a', 'deny', { tool: 're*' }), rule('b', 'ask', { tool: 'ref*' })],
      'ask',
      'b',
    ],
    [
      'conditions before none',
      [rule('a', 'deny'), rule('b', 'allow', { conditions: [{ at: '/amount', is: 'at_most', value: 50 }] })],
      'allow',
      'b',
    ],
    ['deny before ask', [rule('a', 'ask'), rule('b', 'deny')], 'deny', 'b'],
    ['ask before allow', [rule('a', 'allow'), rule('b', 'ask')], 'ask', 'b'],
    ['deny before allow', [rule('a', 'allow'), rule('b', 'deny')], 'deny', 'b'],
    [
      'the older of equals',
      [rule('a', 'deny', { addedAt: 2 }), rule('b', 'deny', { addedAt: 1 })],
      'deny',
      'b',
    ],
  ])('%s', (_, rules, decision, ruleId) => {
    for (const order of [rules, rules.toReversed()])
      expect(decide(order)).toMatchObject({
        decision,
        ruleId,
        decidedBy: `rule:${ruleId}`,
        policyVersion: 2,
      });
  });

  it('leaves out what has expired, is for others or for another tool, and says so', () => {
    const rules = [
      rule('expired', 'deny', { expiresAt: 1_000 }),
      rule('other-agent', 'deny', { scope: { kind: 'agent', agentId: 'x' } }),
      rule('other-owner', 'deny', { scope: { kind: 'owner', ownerId: 'x' } }),
      rule('other-tool', 'deny', { tool: 'book' }),
      rule('other-amount', 'deny', { conditions: [{ at: '/amount', is: 'at_least', value: 11 }] }),
      rule('allow', 'allow', { expiresAt: 1_001 }),
      rule('loses', 'allow', { addedAt: 5 }),
    ];
    const { decision, considered } = decide(rules);
    expect(decision).toBe('allow');
    expect(considered.map(({ ruleId, result, why }) => [ruleId, result, why])).toEqual([
      ['expired', 'not_matched', 'it has expired'],
      ['other-agent', 'not_matched', 'it is for agent x'],
      ['other-owner', 'not_matched', 'it is for the agents of another owner'],
      ['other-tool', 'not_matched', 'it is for tool book'],
      ['other-amount', 'not_matched', 'the arguments do not meet: /amount at least 11'],
      ['allow', 'won', 'it matches and is the most specific'],
      ['loses', 'outranked', 'it matches, but rule allow is as specific and stricter or older'],
    ]);
  });

  it('denies writes in plan whatever a rule allows, and lets a rule deny with its own name', () => {
    const allowing = decide([rule('a', 'allow')], { mode: 'plan' });
    expect(allowing).toMatchObject({ decision: 'deny', decidedBy: 'mode:plan', ruleId: null });
    expect(allowing.considered[0]).toMatchObject({ result: 'outranked', says: 'allow' });
    expect(decide([rule('a', 'deny')], { mode: 'plan' }).decidedBy).toBe('rule:a');
    expect(decide([rule('a', 'ask')], { mode: 'plan', effect: 'read' }).decision).toBe('ask');
  });

  it('asks where a denying rule cannot be excluded, in every mode', () => {
    const rules = [rule('a', 'deny', { conditions: [{ at: '/amount', is: 'at_least', value: 100 }] })];
    const found = decide(rules, { mode: 'auto', arguments: { amount: '5000' } });
    expect(found).toMatchObject({ decision: 'ask', ruleId: 'a' });
    expect(found.reason).toContain('cannot be excluded');
  });

  it('gives the group of the rule that decided', () => {
    const rules = [rule('a', 'ask', { groupKey: 'refunds of {/customer}' })];
    expect(decide(rules).groupKey).toBe('refunds of c1');
    expect(decide([rule('a', 'ask')]).groupKey).toBeNull();
  });
});

describe('the rules of an org', () => {
  it('fold with a version that counts every change', () => {
    const { author: _, addedAt: __, ...bare } = rule('a', 'allow');
    const event = { time: 5, actor: 'user:u' } as const;
    const added = evolvePolicy(NO_POLICY, { type: 'RuleAdded', data: { rule: bare }, ...event });
    expect(added).toEqual({ version: 1, rules: [{ ...bare, author: 'user:u', addedAt: 5 }] });
    const removed = evolvePolicy(added, { type: 'RuleRemoved', data: { ruleId: 'a' }, ...event });
    expect(removed).toEqual({ version: 2, rules: [] });
  });
});

describe('a rule that can match nothing is refused', () => {
  const refused = (more: Partial<PermissionRule>, tools: Parameters<typeof ruleRefusals>[2] = null) =>
    ruleRefusals({ ...rule('a', 'allow'), ...more }, 1_000, tools).map(
      ({ pointer, detail }) => `${pointer} ${detail}`,
    );

  it.each<[string, Partial<PermissionRule>, string]>([
    ['expired at birth', { expiresAt: 1_000 }, '/expires_at'],
    [
      'two values',
      {
        conditions: [
          { at: '/a', is: 'equals', value: 1 },
          { at: '/a', is: 'equals', value: 2 },
        ],
      },
      '/conditions/1',
    ],
    [
      'no common value',
      {
        conditions: [
          { at: '/a', is: 'one_of', values: [1] },
          { at: '/a', is: 'one_of', values: [2] },
        ],
      },
      '/conditions/1',
    ],
    [
      'there and not there',
      {
        conditions: [
          { at: '/a', is: 'absent' },
          { at: '/a', is: 'present' },
        ],
      },
      '/conditions/1',
    ],
    [
      'inside of what is not there',
      {
        conditions: [
          { at: '/a/b', is: 'present' },
          { at: '/a', is: 'absent' },
        ],
      },
      '/conditions/1',
    ],
    [
      'above and below',
      {
        conditions: [
          { at: '/a', is: 'at_most', value: 1 },
          { at: '/a', is: 'at_least', value: 2 },
        ],
      },
      '/conditions/1',
    ],
    [
      'a value outside its directory',
      {
        conditions: [
          { at: '/a', is: 'path_within', directories: ['/x'] },
          { at: '/a', is: 'equals', value: '/y' },
        ],
      },
      '/conditions/1',
    ],
    [
      'inside of a number',
      {
        conditions: [
          { at: '/a', is: 'equals', value: 1 },
          { at: '/a/b', is: 'present' },
        ],
      },
      '/conditions/1',
    ],
    [
      'several commands in one pattern',
      { conditions: [{ at: '/a', is: 'command', patterns: ['git * && ls'] }] },
      '/conditions/0',
    ],
    [
      'a directory above',
      { conditions: [{ at: '/a', is: 'path_within', directories: ['../x'] }] },
      '/conditions/0',
    ],
    [
      'a host with a path',
      { conditions: [{ at: '/a', is: 'url', hosts: ['example.com/x'] }] },
      '/conditions/0',
    ],
    ['a broken group key', { groupKey: '{a}' }, '/group_key'],
  ])('%s', (_, more, pointer) => {
    expect(refused(more)).toHaveLength(1);
    expect(refused(more)[0]).toMatch(new RegExp(`^${pointer} `));
  });

  it('by the catalogue, where it is at hand', () => {
    const closed = {
      name: 'refund',
      inputSchema: { type: 'object', properties: { amount: {} }, additionalProperties: false },
    };
    const condition = (at: string) => ({ conditions: [{ at, is: 'present' } as const] });
    expect(refused({ tool: 'refnud' }, [closed])[0]).toContain('no tool is called refnud');
    expect(refused({ tool: 'ref*', ...condition('/amont') }, [closed])[0]).toContain('/amont');
    expect(refused({ tool: 'ref*', ...condition('/amount') }, [closed])).toEqual([]);
    expect(refused({ ...condition('/amont') }, [closed, { name: 'open', inputSchema: {} }])).toEqual([]);
  });

  it('and a sensible one is not', () => {
    expect(
      refused({
        expiresAt: 1_001,
        groupKey: 'x:{/a}',
        conditions: [
          { at: '/a', is: 'at_least', value: 1 },
          { at: '/a', is: 'at_most', value: 1 },
          { at: '/b', is: 'command', patterns: ['git *', 'ls ** -l'] },
          { at: '/c', is: 'url', hosts: ['*.example.com', '*', '[::1]'] },
          { at: '/d', is: 'path_within', directories: ['.', '/'] },
        ],
      }),
    ).toEqual([]);
  });
});

describe('what a client may send', () => {
  it('is one of the known conditions, complete', () => {
    expect(conditionSchema.safeParse({ at: '/a', is: 'equals', value: null }).success).toBe(true);
    for (const wrong of [
      { at: 'a', is: 'present' },
      { at: '/a', is: 'matches' },
      { at: '/a', is: 'equals' },
      { at: '/a', is: 'command', patterns: [] },
    ])
      expect([wrong, conditionSchema.safeParse(wrong).success]).toEqual([wrong, false]);
    const full = addRuleSchema.parse({ scope: { kind: 'org' }, tool: 'a_*', decision: 'ask' });
    expect(full).toMatchObject({ conditions: [], group_key: null, expires_at: null, note: null });
  });
});
