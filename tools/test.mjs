// npm test [-- jest arguments]: unit, integration and end-to-end specs on servers that the run starts itself.
// Ends with one line "N passed, N failed[, N skipped]" that counts tests; a suite that could not run counts as failed.
import { spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const root = path.resolve(import.meta.dirname, '..');

/** Installs what the lock file names where nothing is installed yet, so that a bare checkout needs no other command. */
function installMissing() {
  if (fs.existsSync(path.join(root, 'node_modules/jest/package.json'))) return;
  console.log('Installing dependencies (npm ci) …');
  const { status } = spawnSync('npm', ['ci'], { cwd: root, stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}

/** Runs jest and returns its exit code. SIGTERM goes on to it; Ctrl-C reaches it through the terminal already. */
function runJest(args) {
  const jest = path.join(root, 'node_modules/jest/bin/jest.js');
  const child = spawn(process.execPath, [jest, ...args], { cwd: root, stdio: 'inherit' });
  process.on('SIGTERM', () => child.kill('SIGTERM'));
  process.on('SIGINT', () => undefined);
  return new Promise((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
}

/** Counts of jest's report; no report means that the run broke before it could count. */
function countsOf(file) {
  if (!fs.existsSync(file)) return { passed: 0, failed: 1, skipped: 0 };
  const report = JSON.parse(fs.readFileSync(file, 'utf8'));
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

installMissing();
if (!process.env.RUNYARD_DATA) {
  console.log(
    'RUNYARD_DATA is not set: suites on recorded data are left out (README, "Data", says how to get it).',
  );
}
const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-test-'));
const report = path.join(reports, 'report.json');
const code = await runJest(['--json', `--outputFile=${report}`, ...process.argv.slice(2)]);
const { passed, failed, skipped } = countsOf(report);
fs.rmSync(reports, { recursive: true, force: true });
// A run that failed without a failed test (obsolete snapshots, no tests found) must not look green.
const counted = code !== 0 && failed === 0 ? 1 : failed;
console.log(`${passed} passed, ${counted} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`);
process.exit(code !== 0 || counted > 0 ? 1 : 0);
