import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@runyard/testing';

jest.setTimeout(120_000);

const TYPESCRIPT = join(__dirname, '../../libs/testing/src/database-child.cjs');

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

test('a service ends with the process that started it, also after kill -9', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'runyard-service-process-'));
  const logFile = join(folder, 'log');
  const options = {
    service: 'sleeper',
    main: ['-e', 'console.log(process.pid); setInterval(() => undefined, 1_000)'],
    env: {},
    logFile,
    opsPort: 1,
  };
  const script = `new (require('${join(__dirname, 'service-process.ts')}').ServiceProcess)(${JSON.stringify(options)}); setInterval(() => undefined, 1_000)`;
  const host = spawn(process.execPath, ['-r', TYPESCRIPT, '-e', script], { stdio: 'inherit' });
  try {
    const pid = await eventually(() => existsSync(logFile) && Number(readFileSync(logFile, 'utf8')));
    expect(isAlive(pid)).toBe(true);
    host.kill('SIGKILL');
    await eventually(() => !isAlive(pid));
  } finally {
    host.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
});
