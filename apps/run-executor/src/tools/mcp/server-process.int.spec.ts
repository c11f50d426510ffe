import { readFileSync } from 'node:fs';
import { eventually } from '@runyard/testing';
import { ServerProcess } from './server-process';

jest.setTimeout(120_000);

const alive = (pid: number): boolean => {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
};

/** Says its id and stays, whatever it is asked; `detached` children have a session of their own. */
const STAYS = `process.on('SIGTERM', () => {}); console.log('pid ' + process.pid); setInterval(() => {}, 1000);`;
const quoted = JSON.stringify(STAYS);
/** Starts one that stays, in a session of its own, and is gone: nobody is its parent any more. */
const ORPHANS = `require('node:child_process').spawn(process.execPath, ['-e', ${quoted}], { detached: true, stdio: 'inherit' }); setTimeout(() => process.exit(), 200);`;
const SERVER = `
const { spawn } = require('node:child_process');
const started = (script, options) => spawn(process.execPath, ['-e', script], { detached: true, stdio: ['ignore', 'inherit', 'inherit'], ...options });
started(${JSON.stringify(ORPHANS)});
started(${quoted}, { env: {} });
process.stdin.on('end', () => process.exit()).resume();
setInterval(() => {}, 1000);`;

async function running(): Promise<{ server: ServerProcess; pids: number[] }> {
  const server = await ServerProcess.start(process.execPath, ['-e', SERVER], {});
  let text = '';
  server.onOutput((chunk) => (text += String(chunk)));
  const pids = await eventually(
    () => {
      const found = [...text.matchAll(/^pid (\d+)$/gm)].map(([, pid]) => Number(pid));
      return found.length === 2 && found;
    },
    { withinMs: 60_000 },
  );
  return { server, pids };
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'ends what left the group of a tool server: orphans of another session, and children without environment',
  async () => {
    const [one, other] = [await running(), await running()];
    expect([...one.pids, ...other.pids].every(alive)).toBe(true);
    await one.server.end();
    await eventually(() => !one.pids.some(alive), { withinMs: 30_000 });
    // Another server's processes are none of its.
    expect(other.pids.every(alive)).toBe(true);
    expect(other.server.alive).toBe(true);
    await other.server.end();
    await eventually(() => !other.pids.some(alive), { withinMs: 30_000 });
    await other.server.end();
  },
);
