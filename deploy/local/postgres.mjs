import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';
import { promisify } from 'node:util';
import { findBinaries, reachable, reachableHome, serverAccount } from './postgres-binaries.mjs';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

// A server that is stopping for an earlier process may hold the data folder for a moment.
const PREDECESSOR_MS = 10_000;
const START_MS = 60_000;
// After that a stopping server is told not to write a checkpoint; the next start recovers from its log.
const STOP_MS = 15_000;

/** Class A (survives kill -9 of any process, not a power cut): every commit reaches the kernel, nothing waits for the disk. */
const FAST = ['fsync=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0'];
const ALWAYS = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=200', 'timezone=UTC', 'log_timezone=UTC', 'jit=off', 'max_wal_size=2GB'];

function environment() {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
}

/** Where the data really lies: the wish, or a folder that the server's account can reach, remembered by a link. */
function placeData(dataDir, account, log) {
  fs.mkdirSync(path.dirname(dataDir), { recursive: true });
  if (reachable(account, dataDir)) return dataDir;
  if (fs.existsSync(dataDir)) return fs.realpathSync(dataDir);
  const elsewhere = path.join(reachableHome(account), `data-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(elsewhere, { mode: 0o700 });
  fs.rmSync(dataDir, { force: true });
  fs.symlinkSync(elsewhere, dataDir);
  log(`Postgres cannot reach ${dataDir} as another user than root; its data lies in ${elsewhere}`);
  return elsewhere;
}

/** The superuser's password lies beside the data, written before the data exists: a crash leaves no data without it. */
function superuserPassword(dataDir) {
  const file = `${dataDir}.password`;
  if (!fs.existsSync(file)) fs.writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  return fs.readFileSync(file, 'utf8').trim();
}

/** Makes the data in a draft folder and renames it, so that a killed start never leaves half a cluster behind. */
async function createCluster({ bin, major, account, dataDir, password }) {
  const draft = `${dataDir}.new`;
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { recursive: true, mode: 0o700 });
  if (account) fs.chownSync(draft, account.uid, account.gid);
  const secret = `${draft}.password`;
  const locale = major >= 17 ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'] : ['--locale=C.UTF-8'];
  const auth = password ? ['-A', 'scram-sha-256', `--pwfile=${secret}`] : ['-A', 'trust'];
  try {
    if (password) {
      fs.writeFileSync(secret, `${password}\n`, { mode: 0o600 });
      if (account) fs.chownSync(secret, account.uid, account.gid);
    }
    const args = ['-D', draft, '-U', 'postgres', '-E', 'UTF8', '--no-sync', '--no-instructions', ...locale, ...auth];
    await run(path.join(bin, 'initdb'), args, { ...account, env: environment(), cwd: '/' });
  } finally {
    fs.rmSync(secret, { force: true });
  }
  if (fs.existsSync(dataDir)) fs.rmdirSync(dataDir);
  fs.renameSync(draft, dataDir);
}

async function predecessorGone(dataDir) {
  const file = path.join(dataDir, 'postmaster.pid');
  for (const until = Date.now() + PREDECESSOR_MS; ; await new Promise((resolve) => setTimeout(resolve, 50))) {
    const pid = fs.existsSync(file) ? Number.parseInt(fs.readFileSync(file, 'utf8'), 10) : 0;
    // After a crash of the machine the file may name a stranger's process.
    const alive = pid > 0 && fs.existsSync(`/proc/${pid}/cmdline`) && fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('postgres');
    if (!alive) return;
    if (Date.now() > until) throw new Error(`Postgres (process ${pid}) already runs on ${dataDir}; stop the other Runyard first`);
  }
}

/**
 * Ends the server when this process dies without a word (kill -9): the shell's input closes then. Both are in sessions of
 * their own, so that Ctrl-C reaches the services first and they can still finish their transactions.
 */
function watchdog(pid, account) {
  const shell = spawn('/bin/sh', ['-c', 'read -r _; kill -INT "$1" 2>/dev/null', 'sh', String(pid)], {
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

async function launch({ bin, account, dataDir, port, durable, log }) {
  const settings = [...ALWAYS, ...(durable ? [] : FAST)].flatMap((setting) => ['-c', setting]);
  const server = spawn(path.join(bin, 'postgres'), ['-D', dataDir, '-p', String(port), ...settings], {
    ...account,
    env: environment(),
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let output = '';
  const exited = new Promise((resolve) => server.once('exit', resolve).once('error', resolve));
  const ready = new Promise((resolve) => {
    server.stderr.on('data', (chunk) => {
      const text = String(chunk);
      output = (output + text).slice(-4000);
      log(text.trimEnd());
      if (output.includes('ready to accept connections')) resolve(true);
    });
  });
  const late = new Promise((resolve) => setTimeout(resolve, START_MS, false).unref());
  if ((await Promise.race([ready, exited.then(() => false), late])) === true) {
    const calm = watchdog(server.pid, account);
    void exited.then(calm);
    return { server, exited };
  }
  server.kill('SIGKILL');
  throw Object.assign(new Error(`Postgres did not start: ${output.trim()}`), { portTaken: output.includes('could not bind') });
}

async function ensureDatabase(url, name) {
  const { Client } = require('pg');
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    const { rowCount } = await client.query('SELECT 1 FROM pg_database WHERE datname = $1', [name]);
    if (!rowCount) await client.query(`CREATE DATABASE ${client.escapeIdentifier(name)}`);
  } finally {
    await client.end();
  }
}

async function stopServer({ server, exited }) {
  const hurry = setTimeout(() => server.kill('SIGQUIT'), STOP_MS);
  server.kill('SIGINT');
  await exited;
  clearTimeout(hurry);
}

/** Starts Postgres on loopback TCP; creates its data on the first start. See `postgres.d.mts` for what the options mean. */
export async function startPostgres({ dataDir, port, durable = true, trust = false, database, from, log = () => undefined }) {
  const account = serverAccount();
  const place = placeData(path.resolve(dataDir), account, log);
  const versionFile = path.join(place, 'PG_VERSION');
  const dataMajor = fs.existsSync(versionFile) ? Number(fs.readFileSync(versionFile, 'utf8')) : undefined;
  const { bin, major } = findBinaries({ account, dataMajor, from });
  const password = trust ? undefined : superuserPassword(place);
  if (dataMajor === undefined) await createCluster({ bin, major, account, dataDir: place, password });
  else await predecessorGone(place);
  for (let attempt = 1; ; attempt++) {
    const chosen = port ?? (await freePort());
    try {
      const running = await launch({ bin, account, dataDir: place, port: chosen, durable, log });
      const urlOf = (name) => `postgres://postgres${password ? `:${password}` : ''}@127.0.0.1:${chosen}/${name}`;
      if (database) await ensureDatabase(urlOf('postgres'), database);
      return { url: urlOf(database ?? 'postgres'), port: chosen, pid: running.server.pid, stop: () => stopServer(running) };
    } catch (error) {
      // A free port was looked up and can be taken by another process before the server binds it.
      if (port !== undefined || !error.portTaken || attempt === 5) throw error;
    }
  }
}
