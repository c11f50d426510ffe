import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { eventually, startSpecProcess } from '@runyard/testing';
import type { SpecProcess } from '@runyard/testing';
import { World } from './world';

jest.setTimeout(600_000);

const AGENTS = 60;
const SLOTS = 8;
const HOUR = 3_600_000;
/** The longest that a scheduler lives after a slot has come due: about as long as it takes for all of them. */
const LONGEST_LIFE_MS = 150;

describe('schedulers as processes', () => {
  let world: World;
  const living: SpecProcess[] = [];
  beforeAll(async () => {
    world = await World.start({ project: false });
  });
  afterAll(async () => {
    await Promise.all(living.map((scheduler) => scheduler.kill()));
    await world?.stop();
  });

  async function spawn(): Promise<SpecProcess> {
    const { servers, clock } = world;
    const { nats, database } = servers;
    const urls = [nats.url, database.urlFor('scheduler'), database.acrossUrlFor('scheduler')];
    const child = startSpecProcess(path.join(__dirname, 'scheduler-child.ts'), [
      ...urls,
      String(clock.now()),
    ]);
    await child.message((message): message is 'serving' => message === 'serving');
    // It was told the time of its birth.
    child.process.send(clock.now());
    return child;
  }

  const slotsOnQueue = () => new Set(world.requests.map(({ key }) => key)).size;

  test('C07 two processes on one database, one of which is killed (kill -9) at every slot: one run a slot (n8n-io/n8n#7045)', async () => {
    world.clock.set('2026-12-01T00:00:00Z');
    const ids = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`);
    for (const id of ids) await world.createAgent(id, { type: 'interval', every_hours: 1 });
    living.push(...(await Promise.all([spawn(), spawn()])));
    await world.planned(AGENTS);
    let cutOff = 0;
    for (let slot = 1; slot <= SLOTS; slot++) {
      world.clock.advance(HOUR);
      for (const { process: child } of living) child.send(world.clock.now());
      await wait((LONGEST_LIFE_MS * slot) / SLOTS);
      const [victim] = living.splice(slot % 2, 1);
      await victim?.kill();
      if (slotsOnQueue() < AGENTS * slot) cutOff++;
      await eventually(() => slotsOnQueue() >= AGENTS * slot, { withinMs: 60_000 });
      living.push(await spawn());
    }
    // At least one of the deaths has to fall into the work, or the test shows nothing.
    expect(cutOff).toBeGreaterThan(0);
    expect(slotsOnQueue()).toBe(AGENTS * SLOTS);
    expect(new Set(world.requests.map((request) => JSON.stringify(request))).size).toBe(AGENTS * SLOTS);
    for (const id of ids) {
      const decided = await world.decided(id);
      expect(decided).toHaveLength(SLOTS);
      expect(new Set(decided).size).toBe(SLOTS);
      expect(decided.every((event) => event.startsWith('SlotRequested '))).toBe(true);
    }
  });
});
