import { runIdOf } from '@runyard/event-log';
import { eventually } from '@runyard/testing';
import { DEATHS } from './mortal-scheduler';
import type { Life } from './mortal-scheduler';
import { World } from './world';
import { WEEKS } from './year.config';

jest.setTimeout(1_200_000);

const AGENTS = 500;
const DAY = 86_400_000;

test(`C07 ${AGENTS} agents over ${WEEKS} weeks, two schedulers, one of which dies at every slot at every point: one run a slot (n8n-io/n8n#7045)`, async () => {
  const world = await World.start();
  try {
    world.clock.set('2027-01-03T12:00:00Z');
    const ids = Array.from({ length: AGENTS }, (_, index) => `agent-${index}`);
    for (const [index, id] of ids.entries())
      await world.createAgent(id, { type: 'calendar', cadence: 'weekly', weekday: index % 7, time: '06:00' });
    await world.caughtUp();
    const life: Life = {};
    const mortal = world.scheduler(life);
    const steady = world.scheduler();
    await steady.pass();
    world.clock.set('2027-01-04T05:00:00Z');
    let kills = 0;
    for (let day = 0; day < WEEKS * 7; day++) {
      // One that dies, and rises with what it remembered; then both side by side.
      life.death = DEATHS[day % DEATHS.length];
      life.dead = false;
      if ((await world.pass(life.death, mortal)) === 'killed') kills += 1;
      life.death = undefined;
      life.dead = false;
      await Promise.all([mortal.pass(), steady.pass()]);
      world.clock.advance(DAY);
    }
    expect(kills).toBe(WEEKS * 7);
    for (const id of ids) {
      const decided = await world.decided(id);
      expect(decided).toHaveLength(WEEKS);
      expect(new Set(decided).size).toBe(WEEKS);
      expect(decided.every((event) => event.startsWith('SlotRequested '))).toBe(true);
    }
    expect(world.failures).toEqual([]);
    await eventually(() => keysOf(world).size >= AGENTS * WEEKS, { withinMs: 120_000, everyMs: 500 });
    expect(new Set([...keysOf(world)].map((key) => runIdOf(world.org, key))).size).toBe(AGENTS * WEEKS);
  } finally {
    await world.stop();
  }
});

/** Any number of requests for a slot have one key. */
const keysOf = (world: World): Set<string> => new Set(world.requests.map(({ key }) => key));
