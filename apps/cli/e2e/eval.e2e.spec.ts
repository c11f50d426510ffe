// Suites of expectations over the whole product, on the command line.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { World } from './world';

jest.setTimeout(240_000);

const answer = { expect: [{ role: 'user', any: true }], text: 'forty-two', usage: { input: 10, output: 5 } };

let world: World;
beforeAll(async () => {
  world = await World.open({ recordings: { clerk: [answer] } });
  await world.agent('solo', 'clerk', { concurrency: 'agent' });
});
afterAll(() => world?.close());

const file = (name: string) => join(world.folder, name);
function suite(cases: object[]): string {
  writeFileSync(file('suite.json'), JSON.stringify({ suite: 'clerk', cases }));
  return file('suite.json');
}
const live = (name: string, expect: object, agent = 'clerk') => ({ name, agent, input: name, expect });

test('a suite plays its cases, judges recorded runs too, and reports three ways', async () => {
  const recorded = await world.ran('clerk', 'long ago');
  const cases = [
    live('answers', {
      termination: 'Completed',
      output: { equals: 'forty-two' },
      limits: { tokens: 15, steps: 1 },
    }),
    live('calls nothing', { tools_called: { exact: [] } }),
    live('wants more', { output: { contains: ['forty-three'] } }),
    live('has no agent', {}, 'nobody'),
    { name: 'recorded', run: recorded, expect: { must_not_leak: { strings: ['forty'] } } },
  ];
  const ran = await world.runyard(
    'eval',
    'run',
    suite(cases),
    '--json',
    file('one.json'),
    '--junit',
    file('one.xml'),
  );
  expect(ran.code).toBe(1);
  expect(ran.out.at(-1)).toBe('clerk: 2 of 5 cases as expected');
  const report = JSON.parse(readFileSync(file('one.json'), 'utf8')) as {
    cases: {
      name: string;
      passed: boolean;
      faults: string[];
      run_id: string | null;
      agent_version: number;
    }[];
  };
  expect(report.cases.map(({ name, passed }) => [name, passed])).toEqual(
    cases.map(({ name }, at) => [name, at < 2]),
  );
  expect(report.cases.flatMap(({ faults }) => faults)).toEqual([
    'the output lacks "forty-three"',
    expect.stringContaining('not_found'),
    'a forbidden text in the output',
  ]);
  expect(report.cases[4]).toMatchObject({ run_id: recorded, agent_version: 1 });
  expect(readFileSync(file('one.xml'), 'utf8')).toContain('<testsuite name="clerk" tests="5" failures="3">');
  expect((await world.row(report.cases[0]?.run_id ?? ''))?.trigger).toBe('eval');
});

test('cases of an agent that runs alone do not wait for each other', async () => {
  const cases = [1, 2, 3, 4].map((n) => live(`at once ${n}`, { termination: 'Completed' }, 'solo'));
  const ran = await world.runyard('eval', 'run', suite(cases));
  expect(ran).toMatchObject({ code: 0 });
});

test('two versions of an agent are compared by their reports', async () => {
  const cases = [live('answers', { output: { equals: 'forty-two' } })];
  await world.runyard('eval', 'run', suite(cases), '--json', file('before.json'));
  await world.api.call('PATCH', '/v1/agents/clerk', { prompt: 'You are another clerk.' });
  await world.runyard('eval', 'run', suite(cases), '--json', file('after.json'));
  const compared = await world.runyard('eval', 'compare', file('before.json'), file('after.json'));
  expect(compared.code).toBe(0);
  expect(compared.out[0]).toMatch(/^same +answers {2}\(version 1 → 2, /);
});

test('a suite with a mistake says where, and plays nothing', async () => {
  const ran = await world.runyard('eval', 'run', suite([live('typo', { tool_called: [] })]));
  expect(ran).toMatchObject({ code: 2, out: [] });
  expect(ran.said).toContain('suite is not valid');
});
