// npm test [-- jest arguments]: unit, integration and end-to-end specs on servers that the run starts itself.
// Ends with one line "N passed, N failed[, N skipped][, N unsteady]" that counts tests; a suite that could not run counts as failed.
// A few failed files are run once more, alone: what fails again has failed, what passes is named as unsteady and is a fault to be found.
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

/** More failed files than this are no accident and are not run again. */
const MOST_AGAIN = 5;

const reports = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-test-'));

/** Runs jest and reads its report; without one the run broke before it could count. */
async function reported(name, args) {
  const file = path.join(reports, `${name}.json`);
  const code = await runJest(['--json', `--outputFile=${file}`, ...args]);
  return { code, report: fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : undefined };
}

function countsOf(report) {
  if (!report) return { passed: 0, failed: 1, skipped: 0 };
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + report.numRuntimeErrorTestSuites,
    skipped: report.numPendingTests + report.numTodoTests,
  };
}

const failedFiles = (report) => (report?.testResults ?? []).filter(({ status }) => status === 'failed');

/** What of failed files counts once they were run again: their tests as the second run saw them. */
function recounted(first, again) {
  const before = failedFiles(first);
  const passedThere = before
    .flatMap(({ assertionResults }) => assertionResults)
    .filter(({ status }) => status === 'passed').length;
  const { passed, failed, skipped } = countsOf(first);
  const second = countsOf(again);
  return {
    passed: passed - passedThere + second.passed,
    failed: second.failed,
    skipped,
    unsteady: Math.max(0, failed - second.failed),
  };
}

/** Names what failed at first and not again, with the reason, so that nobody overlooks it. */
function tellUnsteady(first, again) {
  const twice = new Set(failedFiles(again).map(({ name }) => name));
  for (const { name, message, assertionResults } of failedFiles(first).filter(
    (file) => !twice.has(file.name),
  )) {
    const tests = assertionResults.filter(({ status }) => status === 'failed');
    console.log(`unsteady: ${path.relative(root, name)}`);
    for (const { fullName, failureMessages } of tests)
      console.log(`  ${fullName}\n${failureMessages.join('\n')}`);
    if (tests.length === 0) console.log(message);
  }
}

/** Runs everything, a few failed files twice. Returns the exit code of what counts, and the counts. */
async function proven(args) {
  const first = await reported('report', args);
  const files = failedFiles(first.report).map(({ name }) => name);
  if (first.code === 0 || files.length === 0 || files.length > MOST_AGAIN)
    return { code: first.code, unsteady: 0, ...countsOf(first.report) };
  console.log(`Running ${files.length} failed files once more, alone …`);
  // Alone means in this one process, which a handle that a failed spec left open must not hold up.
  const again = await reported('again', ['--runInBand', '--forceExit', '--runTestsByPath', ...files]);
  tellUnsteady(first.report, again.report);
  return { code: again.code, ...recounted(first.report, again.report) };
}

installMissing();
if (!process.env.RUNYARD_DATA) {
  console.log(
    'RUNYARD_DATA is not set: suites on recorded data are left out (README, "Data", says how to get it).',
  );
}
const { code, passed, failed, skipped, unsteady } = await proven(process.argv.slice(2));
fs.rmSync(reports, { recursive: true, force: true });
// A run that failed without a failed test (obsolete snapshots, no tests found) must not look green.
const counted = code !== 0 && failed === 0 ? 1 : failed;
const more = [skipped > 0 ? `, ${skipped} skipped` : '', unsteady > 0 ? `, ${unsteady} unsteady` : ''].join(
  '',
);
console.log(`${passed} passed, ${counted} failed${more}`);
process.exit(code !== 0 || counted > 0 ? 1 : 0);
