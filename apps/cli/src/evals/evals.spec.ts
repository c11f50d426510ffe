import { faultsOf } from './faults';
import { observationOf } from './observation';
import type { Observation } from './observation';
import { comparisonOf, junitOf, reportLines } from './report';
import type { Report, Verdict } from './report';
import { expectationsSchema, suiteSchema } from './suite';

const call = (tool: string, given = '{}', made = true) => ({ tool, arguments: given, made });
const seen: Observation = {
  runId: 'run_1',
  agentId: 'clerk',
  agentVersion: 1,
  state: 'succeeded',
  termination: 'Completed',
  reason: null,
  output: 'Your order 4711 is on its way.',
  calls: [call('find'), call('book', '{"note":"\\u0073ecret"}'), call('find'), call('refund', '{}', false)],
  steps: 4,
  tokens: 900,
  cut: [],
};
const faults = (expected: object, run: Partial<Observation> = {}) =>
  faultsOf(expectationsSchema.parse(expected), { ...seen, ...run });

test.each<[what: string, expect: object, fault: string | undefined]>([
  ['in order among others', { tools_called: { in_order: ['find', 'book'] } }, undefined],
  [
    'in the wrong order',
    { tools_called: { in_order: ['book', 'find', 'find'] } },
    'tools called: find, book, find',
  ],
  ['in any order', { tools_called: { any_order: ['book', 'find', 'find'] } }, undefined],
  ['twice where it was once', { tools_called: { any_order: ['book', 'book'] } }, 'tools called'],
  ['exactly', { tools_called: { exact: ['find', 'book', 'find'] } }, undefined],
  ['exactly, but for one', { tools_called: { exact: ['find', 'book'] } }, 'tools called'],
  ['a denied call is not made', { tools_called: { any_order: ['refund'] } }, 'tools called'],
  ['a denied call was asked for', { tools_not_called: ['refund'] }, 'refund was called'],
  ['a tool that nobody asked for', { tools_not_called: ['cancel'] }, undefined],
  [
    'a secret behind an escape',
    { must_not_leak: { strings: ['secret'] } },
    'a forbidden text in arguments of book',
  ],
  ['a pattern in the output', { must_not_leak: { patterns: ['\\d{4}'] } }, '/\\d{4}/ matches in the output'],
  ['no secret', { must_not_leak: { strings: ['password'] } }, undefined],
  ['its end', { termination: 'Completed' }, undefined],
  ['another end', { termination: 'Refused' }, 'ended as Completed; expected Refused'],
  ['what the output has', { output: { contains: ['4711'], matches: ['on its way\\.$'] } }, undefined],
  ['what the output lacks', { output: { contains: ['sorry'] } }, 'the output lacks "sorry"'],
  ['what the output should not have', { output: { not_contains: ['order'] } }, 'the output has "order"'],
  ['another output', { output: { equals: 'no' } }, 'the output is not "no"'],
  ['within limits', { limits: { steps: 4, tool_calls: 3, tokens: 900 } }, undefined],
  ['over a limit', { limits: { tokens: 899 } }, '900 tokens; at most 899'],
])('%s', (_what, expected, fault) => {
  const found = faults(expected);
  expect(found).toHaveLength(fault === undefined ? 0 : 1);
  expect(found[0] ?? '').toContain(fault ?? '');
});

test('a text that was cut cannot be proven free of secrets', () => {
  const cut = { cut: ['the output'] };
  expect(faults({ must_not_leak: { strings: ['password'] } }, cut)).toEqual([
    'the output is longer than the record shows: a leak cannot be ruled out',
  ]);
  expect(faults({ termination: 'Completed' }, cut)).toEqual([]);
});

test('a run is observed out of its trajectory', () => {
  const entries = [
    { kind: 'message', role: 'user', content: 'hi' },
    {
      kind: 'message',
      role: 'assistant',
      tool_calls: [
        { call_id: 'c1-0', tool: 'find', arguments: '{"q":1}' },
        { call_id: 'c1-1', tool: 'book', arguments: { preview: '{"big', digest: 'd', bytes: 99999 } },
        { call_id: 'c1-2', tool: 'never', arguments: '{}' },
      ],
      usage: { input: 10, output: 5, cached: 0 },
    },
    { kind: 'tool_result', call_id: 'c1-0', outcome: 'succeeded' },
    { kind: 'tool_result', call_id: 'c1-1', outcome: 'denied' },
    { kind: 'message', role: 'assistant', content: 'done', usage: { input: 20, output: 5 } },
  ];
  const run = {
    run_id: 'run_1',
    agent_id: 'clerk',
    agent_version: 3,
    state: 'succeeded',
    output: 'done',
    steps: 2,
  };
  const observed = observationOf(run as Parameters<typeof observationOf>[0], entries);
  expect(observed).toMatchObject({ agentVersion: 3, tokens: 40, cut: ['the arguments of c1-1'] });
  expect(observed.calls.map(({ tool, made }) => [tool, made])).toEqual([
    ['find', true],
    ['book', false],
    ['never', false],
  ]);
});

test('a suite is read strictly', () => {
  const suite = (expected: object) =>
    suiteSchema.safeParse({ suite: 's', cases: [{ name: 'a', agent: 'x', input: 'y', expect: expected }] });
  expect(suite({}).success).toBe(true);
  expect(suite({ tool_called: ['find'] }).success).toBe(false);
  expect(suite({ must_not_leak: { patterns: ['('] } }).success).toBe(false);
  expect(suite({ tools_called: { exact: [], any_order: [] } }).success).toBe(false);
});

const verdict = (name: string, passed: boolean, version = 1): Verdict => ({
  name,
  passed,
  faults: passed ? [] : ['the output has "<b>"', 'two\u0000'],
  run_id: 'run_1',
  agent_id: 'clerk',
  agent_version: version,
  steps: 2,
  tokens: 30,
  seconds: 1.5,
});
const report = (...cases: Verdict[]): Report => ({ format: 'runyard-eval/1', suite: 'a & b', cases });

test('reports: text for people, JUnit for CI', () => {
  expect(reportLines(report(verdict('one', true), verdict('two', false)))).toEqual([
    'ok     one  (run_1, version 1, 2 steps, 30 tokens)',
    'FAILED two  (run_1, version 1, 2 steps, 30 tokens)',
    '         the output has "<b>"',
    '         two\u0000',
    'a & b: 1 of 2 cases as expected',
  ]);
  expect(junitOf(report(verdict('two', false)))).toBe(`<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a &amp; b" tests="1" failures="1">
  <testcase classname="a &amp; b" name="two" time="1.500"><failure message="the output has &quot;&lt;b&gt;&quot;">the output has &quot;&lt;b&gt;&quot;
two\ufffd</failure></testcase>
</testsuite>
`);
});

test('two reports are compared case by case', () => {
  const before = report(
    verdict('same', true),
    verdict('worse', true),
    verdict('better', false),
    verdict('gone', true),
  );
  const after = report(
    verdict('same', true, 2),
    verdict('worse', false, 2),
    verdict('better', true, 2),
    verdict('new', true, 2),
  );
  const { lines, worse } = comparisonOf(before, after);
  expect(worse).toBe(1);
  expect(lines.map((line) => line.split('  (')[0]?.replaceAll(/ +/g, ' '))).toEqual([
    'same same',
    'WORSE worse',
    'better better',
    'new new',
    'gone gone',
    'a & b: 3 → 3 cases as expected, 1 worse',
  ]);
  expect(lines[0]).toContain('version 1 → 2');
});
