import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { eventually } from '@runyard/testing';
import { MODEL, RegistryFixture } from './fixture';

jest.setTimeout(300_000);

/** The registry as production runs it: a process of its own, configured by variables. */
describe('the process of the registry', () => {
  let fixture: RegistryFixture;
  const started = new Set<ChildProcess>();
  beforeAll(async () => {
    fixture = await RegistryFixture.start();
  });
  afterAll(async () => {
    for (const child of started) child.kill('SIGKILL');
    await fixture?.[Symbol.asyncDispose]();
  });

  function start(env: Record<string, string>) {
    const child = fork(path.join(__dirname, '../src/main.ts'), {
      execArgv: ['-r', path.join(__dirname, '../../../libs/testing/src/database-child.cjs')],
      env: { PATH: process.env.PATH, ...env },
      silent: true,
    });
    started.add(child);
    let output = '';
    for (const stream of [child.stdout, child.stderr])
      stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
    return { child, ended, output: () => output };
  }

  async function freePort(): Promise<number> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    await new Promise((resolve) => server.close(resolve));
    return port;
  }

  async function working(): Promise<Record<string, string>> {
    return {
      NATS_URL: fixture.servers.nats.url,
      DATABASE_URL: fixture.servers.database.urlFor('agent-registry'),
      DATABASE_ACROSS_URL: fixture.servers.database.acrossUrlFor('agent-registry'),
      DATABASE_OWNER_URL: fixture.servers.database.ownerUrl,
      RUNYARD_OPS_PORT: String(await freePort()),
    };
  }
  const isReady = (env: Record<string, string>) => async () =>
    (await fetch(`http://127.0.0.1:${env.RUNYARD_OPS_PORT}/ready`)).status === 200;

  it('names the variables that are wrong, and no value, before it does anything', async () => {
    const { ended, output } = start({ DATABASE_URL: 'mysql://root:hunter2@db', RUNYARD_OPS_PORT: 'hunter2' });
    expect(await ended).toBe(1);
    expect(output()).toMatch(
      /DATABASE_URL must be a postgres:\/\/ URL; DATABASE_ACROSS_URL is required; RUNYARD_OPS_PORT must be/,
    );
    expect(output()).not.toContain('hunter2');
  });

  it('serves, and ends in order on SIGTERM while it is asked', async () => {
    const env = await working();
    const { child, ended, output } = start(env);
    await eventually(isReady(env), { withinMs: 90_000 });
    const org = await fixture.org();
    const calls = Array.from({ length: 20 }, (_, n) =>
      fixture.call('models.allow', org.admin, { model_id: `m${n}`, ...MODEL }),
    );
    await calls[0];
    child.kill('SIGTERM');
    expect(await ended).toBe(0);
    const outcomes = await Promise.allSettled(calls);
    // What was taken was answered; what was not is known not to have been done.
    const open = outcomes.filter(
      (call) => call.status === 'rejected' && call.reason.facts?.maybeDone !== false,
    );
    expect(open).toEqual([]);
    const lines = output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['serving', 'stopped']));
    expect(output()).not.toContain(org.key.key);
  });

  it('leaves nothing half done when it is killed, and the next one goes on', async () => {
    const env = await working();
    const first = start(env);
    await eventually(isReady(env), { withinMs: 90_000 });
    const org = await fixture.org();
    await fixture.call('models.allow', org.admin, { model_id: 'm', ...MODEL });
    const ids = Array.from({ length: 10 }, (_, n) => `a${n}`);
    await Promise.all(
      ids.map((id) => fixture.call('agents.create', org.admin, { agent_id: id, name: id, prompt: 'Help.' })),
    );
    const removed = fixture.call('models.remove', org.admin, { model_id: 'm' });
    await removed;
    first.child.kill('SIGKILL');
    await first.ended;
    const again = await working();
    const second = start(again);
    await eventually(isReady(again), { withinMs: 90_000 });
    await eventually(async () => {
      const { data } = await fixture.call<{ data: { model_id: string | null }[] }>('agents.list', org.admin);
      return data.length === 10 && data.every(({ model_id }) => model_id === null);
    });
    second.child.kill('SIGTERM');
    expect(await second.ended).toBe(0);
  });
});
