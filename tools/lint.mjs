// node tools/lint.mjs [path …]: lint, type check and the project's own rules (tools/lint/) in one run of oxlint.
// Any report fails, warnings too: a rule that only warns is a rule that nobody keeps.
import { spawnSync } from 'node:child_process';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');
const oxlint = path.join(root, 'node_modules/oxlint/bin/oxlint');
const paths = process.argv.slice(2);
const args = ['--type-aware', '--type-check', '--deny-warnings', ...(paths.length > 0 ? paths : ['.'])];
const { status } = spawnSync(process.execPath, [oxlint, ...args], { cwd: root, stdio: 'inherit' });
process.exit(status ?? 1);
