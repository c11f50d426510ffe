import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { ApiClient } from './api-client';
import { DEMONSTRATION_AGENT, QUESTION, seedDemonstration, stdioCommand } from './demonstration';
import { LiveRun } from './live-run';
import { OPERATOR } from '../nats/access';
import type { CreatedOrg, NewOrg } from './installation';
import { Platform } from './platform';
import { ProcessPlatform } from './process-platform';
import type { BusLogin, Stack } from './stack';
import { HELP, WrongArguments, startArguments } from './start-arguments';
import { readStartConfig } from './start.config';

/** The product, in one process or many. */
interface RunningPlatform {
  stack: Stack;
  apiUrl: string;
  /** Where health and metrics are asked for; of many processes the gateway's. */
  opsUrl: string;
  folders: { recordings: string };
  createOrg(input: NewOrg): Promise<CreatedOrg>;
  stop(): Promise<void>;
}

/** What tools of this machine need to reach the running product; for its owner's eyes only. */
interface Connection {
  api_url: string;
  ops_url: string;
  org_id: string;
  user_id: string;
  keys: { admin: string; service: string };
  nats_url: string;
  /** The owner's login: migrations and verification. */
  database_url: string;
}

/** The heap is collected when it has grown by this share. By default V8 waits for several times what all services hold. */
const HEAP_GROWING_PERCENT = 40;

const say = (line = ''): void => console.log(line);

async function main(): Promise<void> {
  const values = startArguments(process.argv.slice(2));
  if (values.help) return say(HELP);
  const root = resolve(__dirname, '../../..');
  const folder = resolve(values.folder ?? join(root, '.runyard'));
  const config = readStartConfig();
  say('Starting Postgres, NATS and all services …');
  const startedAt = performance.now();
  const httpPort = await freeOr(values.port);
  const log = (line: string) => config.logLevel === 'debug' && say(line);
  const options = { ...config, folder, httpPort, log };
  const command = stdioCommand(root);
  const platform: RunningPlatform = values.processes
    ? await ProcessPlatform.start({
        ...options,
        env: config.inherited,
        settings: { 'run-executor': { RUNYARD_MCP_STDIO_COMMANDS: command.join(' ') } },
      })
    : await Platform.start({ ...options, opsPort: 0, executor: { stdioCommands: [command] } });
  const stopped = stopOnSignal(platform);
  try {
    const connection = await connectionOf(platform, join(folder, 'connection.json'));
    say(`Everything is up after ${((performance.now() - startedAt) / 1_000).toFixed(1)} s.\n`);
    await firstRun(connection, root, platform.folders.recordings);
    whereToLook(connection, join(folder, 'connection.json'));
  } catch (error) {
    await platform.stop();
    throw error;
  }
  if (values.once) await platform.stop();
  else await stopped;
}

/** The org and key of this installation; made at the first start, and again where the file was lost. */
async function connectionOf(platform: RunningPlatform, file: string): Promise<Connection> {
  const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Connection) : undefined;
  const made = known ?? (await newOrg(platform));
  const connection: Connection = {
    ...made,
    api_url: platform.apiUrl,
    ops_url: platform.opsUrl,
    nats_url: withLogin(platform.stack.natsUrl, platform.stack.busLogin(OPERATOR)),
    database_url: platform.stack.ownerUrl,
  };
  writeFileSync(file, `${JSON.stringify(connection, null, 2)}\n`, { mode: 0o600 });
  return connection;
}

const withLogin = (url: string, login: BusLogin | undefined): string =>
  login ? url.replace('://', `://${login.user}:${login.pass}@`) : url;

async function newOrg(platform: RunningPlatform): Promise<Pick<Connection, 'org_id' | 'user_id' | 'keys'>> {
  const { org, user, key } = await platform.createOrg({
    name: 'Demonstration',
    time_zone: 'Europe/Berlin',
    admin: { email: 'admin@demonstration.example', name: 'Admin' },
    key_label: 'local start',
  });
  const api = new ApiClient(platform.apiUrl, key.key);
  const application = { label: 'local service', roles: ['service'], user_id: null };
  const service = await api.call<{ key: string }>('POST', '/v1/keys', application);
  return { org_id: org.org_id, user_id: user.user_id, keys: { admin: key.key, service: service.key } };
}

async function firstRun(connection: Connection, root: string, recordings: string): Promise<void> {
  const api = new ApiClient(connection.api_url, connection.keys.admin);
  await seedDemonstration(api, root, recordings);
  const body = { agent_id: DEMONSTRATION_AGENT, input: QUESTION, conversation_id: `demo-${randomUUID()}` };
  const { run_id } = await api.call<{ run_id: string }>('POST', '/v1/runs', body);
  say(`Run ${run_id} of agent ${DEMONSTRATION_AGENT} (recorded model, MCP tools; no API key needed):`);
  const live = new LiveRun(say);
  let last = '';
  for await (const event of api.events(run_id)) {
    live.show(event);
    last = event.type;
  }
  if (last !== 'RunSucceeded') throw new Error(`the first run ended with ${last}`);
}

function whereToLook(connection: Connection, file: string): void {
  say(`
HTTP API       ${connection.api_url}/v1   (OpenAPI: ${connection.api_url}/v1/openapi.json)
keys           ${file}
health         ${connection.ops_url}/ready   metrics: ${connection.ops_url}/metrics
the same rows  npx runyard verify

  KEY=$(node -p "require('${file}').keys.admin")
  curl -H "Authorization: Bearer $KEY" ${connection.api_url}/v1/runs
`);
}

/** Waits for Ctrl-C or SIGTERM, then stops everything in order; a second signal ends at once. */
async function stopOnSignal(platform: RunningPlatform): Promise<void> {
  say('Ctrl-C stops everything.');
  await new Promise<void>((resolve) => {
    let asked = false;
    const stop = () => {
      if (asked) process.exit(130);
      asked = true;
      resolve();
    };
    process.on('SIGINT', stop);
    process.on('SIGTERM', stop);
  });
  say('\nStopping …');
  await platform.stop();
}

/** The wished port where it is free, else any free one (0). */
async function freeOr(port: number): Promise<number> {
  const { createServer } = await import('node:net');
  return new Promise((done) => {
    const probe = createServer();
    probe.once('error', () => done(0));
    probe.listen(port, '127.0.0.1', () => probe.close(() => done(port)));
  });
}

setFlagsFromString(`--heap-growing-percent=${HEAP_GROWING_PERCENT}`);
main().then(
  () => process.exit(0),
  (error: unknown) => {
    if (error instanceof WrongArguments) {
      console.error(`npm start: ${error.message}\n\n${HELP}`);
      process.exit(2);
    }
    console.error(error instanceof Error ? (error.stack ?? error.message) : error);
    process.exit(1);
  },
);
