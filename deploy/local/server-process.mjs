/** What the processes of local Postgres and NATS servers have in common. */
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

// A server that is stopping for an earlier process may hold its folder for a moment.
const PREDECESSOR_MS = 10_000;

/**
 * Ends a server when this process dies without a word (kill -9): the shell's input closes then. It is in a session of its
 * own, so that Ctrl-C reaches the services first and they can still finish their work. Returns what calls it off.
 */
export function watchdog(pid, signal, account = {}) {
  const shell = spawn('/bin/sh', ['-c', `read -r _; kill -${signal} "$1" 2>/dev/null`, 'sh', String(pid)], {
    ...account,
    detached: true,
    cwd: '/',
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  shell.on('error', () => undefined);
  shell.stdin?.on('error', () => undefined);
  shell.unref();
  shell.stdin?.unref?.();
  return () => shell.kill('SIGKILL');
}

/** The process that a file names, if it lives and is the `program`: after a crash of the machine it may be a stranger's. */
function livingServer(pidFile, program) {
  const pid = fs.existsSync(pidFile) ? Number.parseInt(fs.readFileSync(pidFile, 'utf8'), 10) : 0;
  try {
    return pid > 0 && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(program) ? pid : undefined;
  } catch {
    return undefined;
  }
}

/** Waits until the server of an earlier start is gone; two on one folder would write over each other's files. */
export async function predecessorGone({ folder, pidFile, program }) {
  const until = Date.now() + PREDECESSOR_MS;
  for (let pid; (pid = livingServer(pidFile, program)) !== undefined; await wait(50))
    if (Date.now() > until)
      throw new Error(`${program} (process ${pid}) already runs on ${folder}; stop the other Runyard first`);
}
