import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { eventually } from '@runyard/testing';
import type { LocalNatsServer } from '../local/nats.mjs';
import { ACCESS, authorization, passwordValue, passwordVariable } from './access';
import { MINIMUM_NATS_VERSION, findNatsServer, isOlder, startNatsServer } from '../local/nats.mjs';

jest.setTimeout(120_000);

let dir: string;
const started: LocalNatsServer[] = [];
beforeEach(() => (dir = mkdtempSync(join(tmpdir(), 'runyard-nats-spec-'))));
afterEach(async () => {
  await Promise.all(started.splice(0).map((server) => server.kill()));
  rmSync(dir, { recursive: true, force: true });
});

/** A stand-in for a nats-server that only tells its version. */
function binary(folder: string, says: string): string {
  mkdirSync(join(dir, folder), { recursive: true });
  const file = join(dir, folder, 'nats-server');
  writeFileSync(file, `#!/bin/sh\necho "${says}"\n`);
  chmodSync(file, 0o755);
  return file;
}
const start = async (options: Partial<Parameters<typeof startNatsServer>[0]> = {}) => {
  const server = await startNatsServer({ dir, ...options });
  started.push(server);
  return server;
};

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** One request on a connection of its own. */
async function api(url: string, subject: string, body: object) {
  const connection = await connect({ servers: url });
  try {
    const answer = await connection.request(subject, JSON.stringify(body), { timeout: 5_000 });
    return answer.json<{ state?: { messages: number } }>();
  } finally {
    await connection.close();
  }
}

describe('findNatsServer', () => {
  const cached = () => ({ cacheDir: join(dir, 'cache') });

  it('takes NATS_BIN, then PATH, then the cache', async () => {
    const [given, onPath, inCache] = ['given', 'path', 'cache'].map((folder) =>
      binary(folder, 'nats-server: v2.10.27'),
    );
    const PATH = `${join(dir, 'nothing')}:${join(dir, 'path')}`;
    expect(await findNatsServer({ env: { NATS_BIN: given, PATH }, ...cached() })).toBe(given);
    expect(await findNatsServer({ env: { PATH }, ...cached() })).toBe(onPath);
    expect(await findNatsServer({ env: {}, ...cached() })).toBe(inCache);
  });

  it('passes an old one on PATH over and says why', async () => {
    binary('path', 'nats-server: v2.9.10');
    const good = binary('cache', 'nats-server: v2.11.0');
    const lines: string[] = [];
    expect(
      await findNatsServer({
        env: { PATH: join(dir, 'path') },
        log: (line) => lines.push(line),
        ...cached(),
      }),
    ).toBe(good);
    expect(lines).toEqual([expect.stringMatching(/2\.9\.10; 2\.10\.23 or newer is needed/)]);
  });

  it.each([
    ['nats-server: v2.10.22', /is 2\.10\.22; 2\.10\.23 or newer/],
    ['something else', /does not tell its version/],
  ])('refuses a NATS_BIN that says %j, with the reason', async (says, reason) => {
    const NATS_BIN = binary('given', says);
    await expect(findNatsServer({ env: { NATS_BIN }, ...cached() })).rejects.toThrow(reason);
  });

  it('refuses a NATS_BIN that is not there', async () => {
    await expect(findNatsServer({ env: { NATS_BIN: join(dir, 'none') }, ...cached() })).rejects.toThrow(
      /not there/,
    );
  });

  it('compares versions by number', () => {
    expect(isOlder('2.9.10', MINIMUM_NATS_VERSION)).toBe(true);
    expect(isOlder('2.10.9', MINIMUM_NATS_VERSION)).toBe(true);
    expect(isOlder('2.10.23', MINIMUM_NATS_VERSION)).toBe(false);
    expect(isOlder('3.0.0', MINIMUM_NATS_VERSION)).toBe(false);
  });
});

describe('startNatsServer', () => {
  it('runs JetStream on loopback, syncs every message by default, and takes payloads of 1 MB', async () => {
    const server = await start();
    const connection = await connect({ servers: server.url });
    expect(connection.info).toMatchObject({ jetstream: true, max_payload: 1_048_576, host: '127.0.0.1' });
    await connection.close();
    expect(readFileSync(join(dir, 'nats.conf'), 'utf8')).toMatch(/sync_interval: always/);
  });

  it('comes back on the same port with its data after kill -9', async () => {
    const first = await start({ syncAlways: false });
    await api(first.url, '$JS.API.STREAM.CREATE.TEST', { name: 'TEST', subjects: ['test'], storage: 'file' });
    await api(first.url, 'test', {});
    await first.kill();
    await first.exited;
    const second = await start({ port: first.port, syncAlways: false });
    expect(second.url).toBe(first.url);
    const info = await api(second.url, '$JS.API.STREAM.INFO.TEST', {});
    expect(info.state?.messages).toBe(1);
    await second.stop();
  });

  it('does not start on the folder of one that runs', async () => {
    const first = await start({ syncAlways: false });
    await expect(start()).rejects.toThrow(/process \d+\) already runs on .*stop the other Runyard first/);
    await api(first.url, '$JS.API.STREAM.NAMES', {});
  });

  it('ends with the process that started it, also after kill -9', async () => {
    const script = `import('${join(__dirname, '../local/nats.mjs')}').then(async ({ startNatsServer }) => {
      const { pid } = await startNatsServer({ dir: '${dir}', syncAlways: false });
      console.log(pid);
      setInterval(() => undefined, 1_000);
    })`;
    const host = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number((await once(host.stdout, 'data'))[0]);
    expect(isAlive(pid)).toBe(true);
    host.kill('SIGKILL');
    await eventually(() => !isAlive(pid));
    await start({ syncAlways: false });
  });

  it('says what the server said when it cannot start', async () => {
    const { port } = await start();
    await expect(start({ dir: join(dir, 'other'), port })).rejects.toThrow(/did not start.*(in use|listen)/);
  });

  it.each(['-aB_9', '7e5-Zk', '7e54ab', '12', 'true', 'a#b'])(
    'lets a user in by the password %s',
    async (pass) => {
      const [user, variable] = ['scheduler', passwordVariable('scheduler')];
      const others = ['operator', ...Object.keys(ACCESS)].map((one) => [
        passwordVariable(one),
        passwordValue('x'),
      ]);
      const env = { ...Object.fromEntries(others), [variable]: passwordValue(pass) };
      const server = await start({ authorization: authorization(), env });
      const connection = await connect({ servers: server.url, user, pass });
      await connection.close();
      await expect(connect({ servers: server.url, user, pass: 'x' })).rejects.toThrow(/authorization/i);
    },
  );

  it('says which configuration the server refused', async () => {
    const refused = start({
      authorization: authorization(['scheduler']),
      env: { NATS_OPERATOR_PASSWORD: '-a' },
    });
    await expect(refused).rejects.toThrow(/did not start.*NATS_OPERATOR_PASSWORD/);
  });
});
