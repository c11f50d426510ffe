import { setTimeout as wait } from 'node:timers/promises';
import { requestSubject } from '@runyard/contracts';
import { deadLetters } from '@runyard/event-log';
import { eventually, faultyProxy } from '@runyard/testing';
import { inBranches } from './e2e/branches';
import { expectQuiet, expectSound, ofType } from './e2e/invariants';
import { calls, ok } from './e2e/script';
import type { Script } from './e2e/script';
import { ownPostgres } from './e2e/own-postgres';
import type { OwnPostgres } from './e2e/own-postgres';
import { TestExecutor } from './e2e/test-executor';
import { ORG, World } from './e2e/world';

jest.setTimeout(600_000);

/** Long enough that an outage finds every run amid something; results are stored as blobs. */
const WALK: Script = {
  model: async (_request, step) => {
    await wait(60);
    return step < 5 ? calls(['write', `{"step":${step}}`], ['look', '{}']) : { text: 'done' };
  },
  tool: async (call) => {
    await wait(40);
    return ok(call.tool.name === 'look' ? `${call.runId} `.repeat(1_500) : 'written');
  },
};

const keys = (name: string, count: number): string[] =>
  Array.from({ length: count }, (_, n) => `${name}-${n}`);

async function publish(world: World, list: readonly string[]): Promise<void> {
  await inBranches(
    list,
    25,
    async (key) => void (await world.bus.queues.publish(requestSubject(ORG), world.requestFor(key))),
  );
}

/** How many of the runs have more in their log than their birth. */
async function underWay(world: World, list: readonly string[]): Promise<number> {
  const lengths = await Promise.all(list.map(async (key) => (await world.types(world.runId(key))).length));
  return lengths.filter((length) => length > 6).length;
}

async function expectAllSucceeded(world: World, list: readonly string[], withinMs: number): Promise<void> {
  const until = performance.now() + withinMs;
  for (const key of list) {
    const end = await world.ended(world.runId(key), Math.max(1, until - performance.now()));
    expect({ key, type: end.type, why: 'error' in end.data ? end.data.error : null }).toEqual({
      key,
      type: 'RunSucceeded',
      why: null,
    });
  }
  for (const key of list) await expectSound(world, world.runId(key), key);
  expect(await deadLetters(world.connection).list()).toEqual([]);
}

describe('thirty runs under way', () => {
  let world: World;
  let executors: TestExecutor[];
  beforeAll(async () => {
    world = await World.create();
    executors = await Promise.all([1, 2].map(() => TestExecutor.start(world, WALK)));
  });
  afterAll(() => world[Symbol.asyncDispose]());

  it.each([
    [
      'is killed and comes back after a second',
      async () => (await world.nats.kill(), await wait(1_000), world.nats.restart()),
    ],
    ['is restarted in order', () => world.nats.restart()],
    [
      'stands still for three seconds',
      async () => (world.nats.pause(), await wait(3_000), world.nats.resume()),
    ],
  ])('all succeed when NATS %s', async (name, happens) => {
    const list = keys(name.replaceAll(' ', '-'), 30);
    await publish(world, list);
    await eventually(async () => (await underWay(world, list)) >= 10, { withinMs: 30_000 });
    await happens();
    const backAt = performance.now();
    for (const key of list) await world.ended(world.runId(key), 60_000);
    console.log(
      `NATS ${name}: all runs ended ${Math.round(performance.now() - backAt)} ms after it was back`,
    );
    await expectAllSucceeded(world, list, 60_000);
    await expectQuiet(world, executors);
  });

  it('all succeed when every connection to Postgres is broken, three times', async () => {
    const list = keys('broken', 30);
    await publish(world, list);
    for (let times = 0; times < 3; times++) {
      await wait(250);
      await breakConnections(world);
    }
    await expectAllSucceeded(world, list, 60_000);
    await expectQuiet(world, executors);
  });
});

describe('an executor that is cut off from the bus, and lives', () => {
  it('loses its runs to another one and does nothing to them when it is back (P3.1, P3.4)', async () => {
    await using world = await World.create();
    await using proxy = await faultyProxy(world.nats.port);
    const cutOff = await TestExecutor.start(
      world,
      {
        model: async (_request, step) => (
          await wait(60),
          step < 12 ? calls(['put', `{"step":${step}}`], ['look', '{}']) : { text: 'done' }
        ),
        // Short: a lost model call is booked at its worst case, and long results would use up the run's grant.
        tool: async (call) => (await wait(40), ok(`${call.tool.name} is done`)),
      },
      { servers: proxy.url },
    );
    const list = keys('cut-off', 20);
    await publish(world, list);
    await eventually(() => cutOff.executor.drivers.runIds().length === 20, { withinMs: 30_000 });
    const heir = await TestExecutor.start(world, null);
    proxy.stall();
    const cutAt = performance.now();
    const recovered = async () =>
      (
        await Promise.all(
          list.map(async (key) => ofType(await world.events(world.runId(key)), 'RunRecovered').length),
        )
      ).every((times) => times > 0);
    await eventually(recovered, { withinMs: 60_000, everyMs: 100 });
    console.log(
      `cut off from the bus: taken over ${Math.round(performance.now() - cutAt)} ms later (pings: 5 s, two missed)`,
    );
    await wait(500);
    proxy.heal();
    await expectAllSucceeded(world, list, 60_000);
    for (const key of list)
      expect(ofType(await world.events(world.runId(key)), 'RunRecovered')).toHaveLength(1);
    // It has noticed, dropped the runs, and takes new ones.
    await eventually(() => cutOff.executor.drivers.runIds().length === 0, { withinMs: 30_000 });
    await heir.stop();
    expect(await world.ended(await world.start('after-the-cut'), 30_000)).toMatchObject({
      type: 'RunSucceeded',
    });
    await expectQuiet(world, [cutOff]);
    await cutOff.stop();
  });
});

async function breakConnections(world: World): Promise<void> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: world.database.ownerUrl });
  await client.connect();
  await client.query(
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
  );
  await client.end();
}

describe('a database that restarts during recovery', () => {
  let postgres: OwnPostgres;
  beforeAll(async () => void (postgres = await ownPostgres()));
  afterAll(() => postgres[Symbol.asyncDispose]());

  it('C12 leaves no run under a dead executor (dbos-inc/dbos-transact-py#716)', async () => {
    await using world = await World.create({ postgresUrl: postgres.url });
    // Without a write that must not be repeated: a lost one ends its run, which is another rule.
    const repeatable: Script = {
      ...WALK,
      model: async (_request, step) => (
        await wait(60),
        step < 4 ? calls(['put', `{"step":${step}}`], ['look', '{}']) : { text: 'done' }
      ),
    };
    const first = await TestExecutor.start(world, repeatable, { config: { places: 40 } });
    const list = keys('recover', 250);
    await publish(world, list);
    await eventually(async () => (await underWay(world, list)) >= 20, { withinMs: 60_000 });
    await first.die();
    const heir = await TestExecutor.start(world, null, { config: { places: 40 } });
    await wait(200);
    await postgres.crash(2_000);
    const restarted = performance.now();
    await expectAllSucceeded(world, list, 120_000);
    console.log(`C12: all 250 runs ended ${Math.round(performance.now() - restarted)} ms after the restart`);
    await expectQuiet(world, [heir]);
    await heir.stop();
  });
});
