// Plants one violation of each lint rule in a copy of the workspace's configuration and fails if it goes unreported:
// a rule that matches nothing looks exactly like a rule that everybody keeps.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { ALLOWED, PLANTED } from './lint/probes';

jest.setTimeout(120_000);

const root = path.resolve(__dirname, '..');
let workspace: string;
/** `<file> <rule>` of everything that the linter reported. */
let reported: Set<string>;

interface Diagnostic {
  code?: string;
  filename: string;
}

/** `typescript(TS2322)` is the type checker's; `eslint(max-lines)` reads `max-lines` in the configuration. */
function ruleOf(code: string): string {
  const [, plugin, rule] = /^([\w-]+)\((.+)\)$/.exec(code) ?? [];
  if (rule?.startsWith('TS')) return 'type-check';
  return plugin === 'eslint' ? String(rule) : `${plugin}/${rule}`;
}

beforeAll(() => {
  workspace = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-lint-'));
  for (const file of ['.oxlintrc.json', 'tsconfig.base.json', 'tsconfig.json'])
    fs.copyFileSync(path.join(root, file), path.join(workspace, file));
  fs.cpSync(path.join(root, 'tools/lint'), path.join(workspace, 'tools/lint'), {
    recursive: true,
    filter: (from) => !from.endsWith('.ts'),
  });
  fs.symlinkSync(path.join(root, 'node_modules'), path.join(workspace, 'node_modules'));
  for (const { file, code } of [...PLANTED, ...ALLOWED]) {
    fs.mkdirSync(path.join(workspace, path.dirname(file)), { recursive: true });
    fs.writeFileSync(path.join(workspace, file), code);
  }
  const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
  const args = [oxlint, '--type-aware', '--type-check', '-f', 'json', 'apps', 'libs', 'deploy', 'bench'];
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    cwd: workspace,
    encoding: 'utf8',
    maxBuffer: 1 << 26,
  });
  if (!stdout.trimStart().startsWith('{')) throw new Error(`oxlint gave no report: ${stdout}${stderr}`);
  const { diagnostics } = JSON.parse(stdout) as { diagnostics: Diagnostic[] };
  reported = new Set(diagnostics.map(({ filename, code }) => `${filename} ${ruleOf(code ?? '')}`));
});

afterAll(() => fs.rmSync(workspace, { recursive: true, force: true }));

test.each(PLANTED)('$rule is reported in $file: $because', ({ file, rule }) => {
  expect([...reported].filter((report) => report.startsWith(`${file} `))).toContain(`${file} ${rule}`);
});

test.each(ALLOWED)('nothing is reported in $file: $because', ({ file }) => {
  expect([...reported].filter((report) => report.startsWith(`${file} `))).toEqual([]);
});

test('every rule that the configuration switches on has a planted violation', () => {
  const { rules, overrides } = JSON.parse(fs.readFileSync(path.join(root, '.oxlintrc.json'), 'utf8')) as {
    rules: Record<string, unknown>;
    overrides: { rules: Record<string, unknown> }[];
  };
  const switchedOn = [rules, ...overrides.map((override) => override.rules)]
    .flatMap((entries) => Object.entries(entries))
    .filter(([, level]) => level !== 'off')
    .map(([rule]) => rule);
  const probed = new Set(PLANTED.map(({ rule }) => rule));
  expect(switchedOn.filter((rule) => !probed.has(rule))).toEqual([]);
});
