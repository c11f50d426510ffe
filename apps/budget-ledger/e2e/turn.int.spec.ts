import { randomUUID } from 'node:crypto';
import { BUDGET_EVENTS, subjectOf, weekId } from '@runyard/contracts';
import type { WeekEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { World } from './world';

jest.setTimeout(120_000);

// The week's turn of owners, with a clock that stands still (P6.3).
let world: World;
beforeAll(async () => {
  world = await World.start('Europe/Berlin');
  await world.ledger();
  await world.ledger();
});
afterAll(() => world?.stop());
beforeEach(() => world.clock.set('2026-12-05T12:00:00Z'));

async function eventsOf(owner: string, week: string): Promise<WeekEvent[]> {
  const commits = await world.servers.bus.log.read(subjectOf('budgets', world.org, weekId(owner, week)));
  return commits.flatMap((commit) => decodeEvents(commit, BUDGET_EVENTS).events as WeekEvent[]);
}
const typesOf = async (owner: string, week: string): Promise<string[]> =>
  (await eventsOf(owner, week)).map(({ type }) => type);

it('carries what is open into the new week, whose admissions count it', async () => {
  const owner = randomUUID();
  await world.setCap(1_000, owner);
  await world.reserve(owner, 'run_open', 700);
  // Sunday 00:00 in Berlin.
  world.clock.set('2026-12-05T22:59:59.999Z');
  expect(await world.budget(owner)).toMatchObject({ week: '2026-11-29', reserved: 700 });
  world.clock.set('2026-12-05T23:00:00Z');
  expect(await world.budget(owner)).toMatchObject({ week: '2026-12-06', reserved: 700, settled: 0 });
  expect(await typesOf(owner, '2026-12-06')).toEqual([]);
  // Many at once, at two ledgers: the turn happens once.
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => world.reserve(owner, `run_new_${i}`, 300, 300)),
  );
  expect(answers.filter(({ outcome }) => outcome === 'granted')).toHaveLength(1);
  expect(answers.every(({ week }) => week === '2026-12-06')).toBe(true);
  expect((await typesOf(owner, '2026-11-29')).filter((type) => type === 'WeekClosed')).toHaveLength(1);
  expect((await eventsOf(owner, '2026-12-06'))[0]).toMatchObject({
    type: 'WeekOpened',
    data: { previous: '2026-11-29', carried: [{ runId: 'run_open', tokens: 700, cut: false }], more: 0 },
  });
});

it('counts a run in the week in which it ended, and gives its reservation back where it has gone', async () => {
  const owner = randomUUID();
  await world.setCap(1_000, owner);
  await world.reserve(owner, 'run_late', 700);
  await world.queued('run_late', { owner });
  world.clock.set('2026-12-05T23:00:00Z');
  await world.reserve(owner, 'run_next', 300);
  world.clock.set('2026-12-05T22:59:59Z');
  await world.ended('run_late', { owner });
  world.clock.set('2026-12-05T23:00:01Z');
  const row = await world.reservedIs(owner, 300);
  expect(row).toMatchObject({ week: '2026-12-06', settled: 0 });
  const settled = (await eventsOf(owner, '2026-11-29')).at(-1);
  expect(settled).toMatchObject({ type: 'BudgetSettled', data: { tokens: 120, reserved: 700 } });
  expect(await typesOf(owner, '2026-12-06')).toEqual(['WeekOpened', 'BudgetReserved', 'BudgetReleased']);
});

it('counts a tree in the week in which its root ended, children that ended in the week before among it (P6.4)', async () => {
  const owner = randomUUID();
  await world.reserve(owner, 'run_root', 700);
  await world.queued('run_root', { owner });
  await world.ran('run_child', { owner, root: 'run_root', agentId: 'helper' });
  world.clock.set('2026-12-06T12:00:00Z');
  await world.ended('run_root', { owner, children: 120 });
  await world.settled(owner, 240);
  expect(await typesOf(owner, '2026-11-29')).toEqual(['WeekOpened', 'BudgetReserved', 'WeekClosed']);
  expect((await eventsOf(owner, '2026-12-06')).at(-1)).toMatchObject({
    type: 'BudgetSettled',
    data: { tokens: 240, own: 120, children: 120, reserved: 700, day: '2026-12-06' },
  });
});

it('opens the week that a lost ledger had only named, with what was open (P6.3)', async () => {
  const owner = randomUUID();
  await world.setCap(1_000, owner);
  await world.reserve(owner, 'run_kept', 700);
  world.clock.set('2026-12-06T12:00:00Z');
  // As if it had died right after the close of the old week.
  const next = {
    week: '2026-12-06',
    start: Date.parse('2026-12-05T23:00:00Z'),
    end: Date.parse('2026-12-12T23:00:00Z'),
    timeZone: 'Europe/Berlin',
  };
  await world.append('budgets', weekId(owner, '2026-11-29'), [{ type: 'WeekClosed', data: { next } }]);
  expect(await world.budget(owner)).toMatchObject({ week: '2026-12-06', reserved: 700 });
  const answers = await Promise.all(['run_a', 'run_b'].map((run) => world.reserve(owner, run, 300, 300)));
  expect(answers.map(({ outcome }) => outcome).toSorted()).toEqual(['granted', 'refused']);
  expect((await eventsOf(owner, '2026-12-06'))[0]).toMatchObject({
    type: 'WeekOpened',
    data: { ...next, previous: '2026-11-29', carried: [{ runId: 'run_kept', tokens: 700 }] },
  });
  expect(await typesOf(owner, '2026-11-29')).toEqual(['WeekOpened', 'BudgetReserved', 'WeekClosed']);
});

it('finds the week of a run that ended while nobody came for months', async () => {
  const owner = randomUUID();
  await world.reserve(owner, 'run_paused', 700);
  await world.queued('run_paused', { owner });
  world.clock.set('2026-12-30T12:00:00Z');
  await world.ended('run_paused', { owner });
  await world.settled(owner, 120);
  for (const week of ['2026-12-06', '2026-12-13', '2026-12-20'])
    expect(await typesOf(owner, week)).toEqual(['WeekOpened', 'WeekClosed']);
  expect(await typesOf(owner, '2026-12-27')).toEqual(['WeekOpened', 'BudgetSettled']);
  // Without anything open the weeks in between are left out.
  world.clock.set('2027-03-10T12:00:00Z');
  expect((await world.reserve(owner, 'run_much_later', 1)).week).toBe('2027-03-07');
  expect((await eventsOf(owner, '2027-03-07'))[0]).toMatchObject({ data: { previous: '2026-12-27' } });
});

it('keeps the running week’s boundaries when the org moves to another zone', async () => {
  const owner = randomUUID();
  await world.reserve(owner, 'run_moved', 100);
  await world.append('people', 'org', [
    { type: 'OrganizationEdited', data: { name: 'Org', timeZone: 'Pacific/Kiritimati' } },
  ]);
  // Sunday in Kiritimati long since, and still Saturday in Berlin.
  world.clock.set('2026-12-05T20:00:00Z');
  expect((await world.reserve(owner, 'run_same', 1)).week).toBe('2026-11-29');
  world.clock.set('2026-12-05T23:00:00Z');
  expect((await world.reserve(owner, 'run_after', 1)).week).toBe('2026-12-06');
  expect((await eventsOf(owner, '2026-12-06'))[0]).toMatchObject({
    data: {
      start: Date.parse('2026-12-05T23:00:00Z'),
      end: Date.parse('2026-12-12T10:00:00Z'),
      timeZone: 'Pacific/Kiritimati',
    },
  });
});
