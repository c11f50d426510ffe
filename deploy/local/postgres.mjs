import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { freePort } from './free-port.mjs';
import { findBinaries, serverAccount } from './postgres-binaries.mjs';
import { createCluster, environment, placeData, superuserPassword } from './postgres-data.mjs';
import { predecessorGone, watchdog } from './server-process.mjs';

const require = createRequire(import.meta.url);

const START_MS = 60_000;
// After that a stopping server is told not to write a checkpoint; the next start recovers from its log.
const STOP_MS = 15_000;

/** Class A (survives kill -9 of any process, not a power cut): every commit reaches the kernel, nothing waits for the disk. */
const FAST = ['fsync=off', 'full_page_writes=off', 'wal_level=minimal', 'max_wal_senders=0'];
const ALWAYS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  // Suites run several whole products at once.
  'max_connections=400',
  'timezone=UTC',
  'log_timezone=UTC',
  'jit=off',
  'max_wal_size=2GB',
];

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
    const calm = watchdog(server.pid, 'INT', account);
    void exited.then(calm);
    return { server, exited };
  }
  server.kill('SIGKILL');
  throw Object.assign(new Error(`Postgres did not start: ${output.trim()}`), {
    portTaken: output.includes('could not bind'),
  });
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

const unused = (place) =>
  predecessorGone({ folder: place, pidFile: path.join(place, 'postmaster.pid'), program: 'postgres' });

/** Starts Postgres on loopback TCP; creates its data on the first start. See `postgres.d.mts` for what the options mean. */
export async function startPostgres({
  dataDir,
  port,
  durable = true,
  trust = false,
  database,
  from,
  log = () => undefined,
}) {
  const account = serverAccount();
  const place = placeData(path.resolve(dataDir), account, log);
  const versionFile = path.join(place, 'PG_VERSION');
  const dataMajor = fs.existsSync(versionFile) ? Number(fs.readFileSync(versionFile, 'utf8')) : undefined;
  const { bin, major } = findBinaries({ account, dataMajor, from });
  const password = trust ? undefined : superuserPassword(place);
  if (dataMajor === undefined) await createCluster({ bin, major, account, dataDir: place, password });
  else await unused(place);
  for (let attempt = 1; ; attempt++) {
    const chosen = port ?? (await freePort());
    try {
      const running = await launch({ bin, account, dataDir: place, port: chosen, durable, log });
      const urlOf = (name) =>
        `postgres://postgres${password ? `:${password}` : ''}@127.0.0.1:${chosen}/${name}`;
      if (database) await ensureDatabase(urlOf('postgres'), database);
      return {
        url: urlOf(database ?? 'postgres'),
        port: chosen,
        pid: running.server.pid,
        stop: () => stopServer(running),
      };
    } catch (error) {
      // A free port was looked up and can be taken by another process before the server binds it.
      if (port !== undefined || !error.portTaken || attempt === 5) throw error;
    }
  }
}
