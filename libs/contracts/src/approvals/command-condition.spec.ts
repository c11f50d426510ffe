import { commandMatches } from './command-condition';
import { decideCall } from './call-decision';
import type { RuleDecision, StandingRule } from './permission.events';

const rule = (decision: RuleDecision, ...patterns: string[]): StandingRule => ({
  ruleId: `rul_${decision}`,
  scope: { kind: 'org' },
  tool: 'shell',
  conditions: [{ at: '/command', is: 'command', patterns }],
  decision,
  groupKey: null,
  expiresAt: null,
  note: null,
  approvalId: null,
  author: 'user:a',
  addedAt: 0,
});

const RULES = [
  rule('allow', 'git *', 'ls *', 'npm run test'),
  rule('deny', 'rm *', 'git push **  --force **'),
];
const decided = (command: unknown, mode: 'ask' | 'auto' = 'ask') =>
  decideCall(
    { version: 2, rules: RULES },
    {
      agentId: 'a',
      ownerId: 'o',
      tool: 'shell',
      effect: 'write',
      arguments: { command: command as string },
      mode,
      now: 1,
    },
  ).decision;

const TABLE: [string, RuleDecision][] = [
  ['git status', 'allow'],
  ['git', 'allow'],
  ['git\tstatus', 'allow'],
  ['  git   status  ', 'allow'],
  ['ls -la "my files"', 'allow'],
  ['npm run test', 'allow'],
  ['git log | git shortlog', 'allow'],
  ['git status && ls', 'allow'],
  ['git status\nls', 'allow'],
  ['git log 2>&1', 'allow'],
  ['git log 2>/dev/null', 'allow'],
  ['git commit -m "a; rm -rf x"', 'allow'],
  ["git commit -m '$(rm x)'", 'allow'],
  ['git status # rm x', 'allow'],
  ['git log $(git rev-parse HEAD)', 'allow'],
  ['git status && rm -rf x', 'deny'],
  ['git status; rm x', 'deny'],
  ['git status\nrm x', 'deny'],
  ['git status & rm x', 'deny'],
  ['git status || rm x', 'deny'],
  ['git log | xargs rm', 'deny'],
  ['git log | xargs -n 1 rm -f', 'deny'],
  ['nohup rm -rf x', 'deny'],
  ['timeout 5 rm x', 'deny'],
  ['timeout -k 2 5 rm x', 'deny'],
  ['sudo -u root rm x', 'deny'],
  ['env A=1 rm x', 'deny'],
  ['A=1 rm x', 'deny'],
  ['/bin/rm x', 'deny'],
  ['\\rm x', 'deny'],
  ['r""m x', 'deny'],
  ["'rm' x", 'deny'],
  ['r\\\nm x', 'deny'],
  ['sh -c "rm x"', 'deny'],
  ['bash -lc "git status; rm x"', 'deny'],
  ['nohup sh -c "timeout 5 rm x" &', 'deny'],
  ['eval rm x', 'deny'],
  ['find . -name x -exec rm {} ;', 'deny'],
  ['echo $(rm x)', 'deny'],
  ['echo `rm x`', 'deny'],
  ['echo "a $(rm x) b"', 'deny'],
  ['git diff <(rm x)', 'deny'],
  ['(rm x)', 'deny'],
  ['{ rm x; }', 'deny'],
  ['if git status; then rm x; fi', 'deny'],
  ['for f in *; do rm $f; done', 'deny'],
  ['! rm x', 'deny'],
  ['git push origin main --force', 'deny'],
  ['git log | sh', 'ask'],
  ['git status $(touch p)', 'ask'],
  ['git status `touch p`', 'ask'],
  ['GIT_PAGER="sh -c id" git log', 'ask'],
  ['git log > /etc/passwd', 'ask'],
  ['git log >> notes', 'ask'],
  ['git apply < patch', 'ask'],
  ['git log <<EOF\nrm x\nEOF', 'deny'],
  ['cat <<EOF\nhello\nEOF', 'ask'],
  ['./git status', 'ask'],
  ['/tmp/git status', 'ask'],
  ['$CMD x', 'ask'],
  ['r? x', 'ask'],
  ['{git,status}', 'ask'],
  ["$'rm' x", 'ask'],
  ['git status "', 'ask'],
  ["git status '", 'ask'],
  ['git status $(', 'ask'],
  ['git status `', 'ask'],
  ['git status\rrm x', 'ask'],
  ['git status\0', 'ask'],
  ['git() { id; }; git', 'ask'],
  ['npm run test -- --watch', 'ask'],
  ['npm run testing', 'ask'],
  ['gitk', 'ask'],
  ['source ./x', 'ask'],
  ['', 'ask'],
];

describe('C37 command lines are read whole (anthropics/claude-code#36637)', () => {
  it.each(TABLE)('%j is %s', (line, expected) => expect(decided(line)).toBe(expected));

  it.each(TABLE.filter(([, expected]) => expected === 'allow'))('%j; rm x is never allowed', (line) => {
    for (const joint of ['; ', ' && ', ' || ', ' | ', '\n', ' & '])
      // A comment runs to the end of its line, and takes what follows with it.
      if (joint === '\n' || !line.includes('#')) expect(decided(`${line}${joint}rm x`)).toBe('deny');
  });

  it('asks in mode auto too where a denying rule cannot be excluded', () => {
    for (const line of [
      '$CMD x',
      'git log | sh',
      "$'rm' x",
      'echo "',
      'sh -c "$X"',
      'eval "$X"',
      'bash script',
    ])
      expect([line, decided(line, 'auto')]).toEqual([line, 'ask']);
    expect(decided('touch x', 'auto')).toBe('allow');
  });

  it('reads a list of words as one command that no shell sees', () => {
    expect(decided(['git', 'log', '; rm x'])).toBe('allow');
    expect(decided(['rm', 'x'])).toBe('deny');
    expect(decided(['nohup', 'rm', 'x'])).toBe('deny');
    expect(decided([])).toBe('ask');
    expect(decided(['git', 5])).toBe('ask');
    expect(decided(7)).toBe('ask');
  });
});

describe('patterns of commands', () => {
  it.each([
    ['npm run *', 'npm run build', 'yes'],
    ['npm run *', 'npm run', 'yes'],
    ['npm * test', 'npm run test', 'yes'],
    ['npm * test', 'npm run it test', 'no'],
    ['git ** --force', 'git push a b --force', 'yes'],
    ['git ** --force', 'git push --force x', 'no'],
    ['git push-*', 'git push-x', 'yes'],
    ['*', 'anything at all', 'yes'],
    ['ls', 'ls $X', 'no'],
    ['ls *', 'ls $X', 'yes'],
  ])('%j and %j: %s', (pattern, line, expected) =>
    expect(commandMatches(line, [pattern], 'strict')).toBe(expected),
  );

  it('ends quickly on lines made to be slow', () => {
    const lines = [
      '$('.repeat(2_000),
      '('.repeat(50_000),
      '`'.repeat(10_001),
      'a '.repeat(40_000),
      'a b '.repeat(1_900),
      'sudo '.repeat(5_000),
    ];
    const before = Date.now();
    for (const line of lines) {
      commandMatches(line, ['a ** b ** c'], 'wary');
      commandMatches(line, ['a ** b'], 'strict');
    }
    expect(Date.now() - before).toBeLessThan(20_000);
  });
});
