import type { ScheduleEvent } from '@runyard/contracts';
import { NO_SLOTS, decideSlots, evolveSlots } from './agent-slots';
import type { SlotCommand, SlotDue } from './agent-slots';

const HOUR = 3_600_000;

/** Plays commands one after another; returns what each decided. */
function play(...commands: SlotCommand[]): string[][] {
  let state = NO_SLOTS;
  return commands.map((command) => {
    const events = decideSlots(state, command);
    for (const event of events)
      state = evolveSlots(state, { ...event, time: 0, actor: 'system:spec' } as ScheduleEvent);
    return events.map(({ type, data }) =>
      [type, 'slot' in data ? data.slot / HOUR : data.count, 'reason' in data ? data.reason : '']
        .join(' ')
        .trim(),
    );
  });
}

const due = (slot: number, more: Partial<SlotDue> = {}): SlotDue => ({
  type: 'SlotDue',
  slot: slot * HOUR,
  run: true,
  late: false,
  missed: null,
  catchUp: 'latest',
  overlap: 'skip',
  holders: [],
  ...more,
});
const busy = { holders: ['run_1'] };

describe('slots of an agent', () => {
  test('a slot is requested once, however often it is found due', () => {
    expect(play(due(1), due(1), due(2), due(1))).toEqual([['SlotRequested 1'], [], ['SlotRequested 2'], []]);
  });

  test('skip: the request goes out all the same, intake records that it was skipped', () => {
    expect(play(due(1, busy))).toEqual([['SlotRequested 1']]);
  });

  test.each(['queue', 'replace'] as const)(
    '%s: it waits, and goes out when the holder has ended',
    (overlap) => {
      expect(play(due(1, { overlap, ...busy }), { type: 'ReleaseSlot' }, { type: 'ReleaseSlot' })).toEqual([
        ['SlotDeferred 1'],
        ['SlotRequested 1'],
        [],
      ]);
    },
  );

  test('queue: at most one waits; a newer one takes its place', () => {
    const overlap = { overlap: 'queue' as const };
    expect(
      play(due(1, { ...overlap, ...busy }), due(2, { ...overlap, ...busy }), { type: 'ReleaseSlot' }),
    ).toEqual([['SlotDeferred 1'], ['SlotNotRun 1 coalesced', 'SlotDeferred 2'], ['SlotRequested 2']]);
  });

  test('queue: where nobody is running it goes out at once', () => {
    expect(play(due(1, { overlap: 'queue' }))).toEqual([['SlotRequested 1']]);
  });

  test('a slot that waits ends with its agent', () => {
    const waiting = due(1, { overlap: 'queue', ...busy });
    expect(play(waiting, { type: 'DropSlot', reason: 'closed' }, { type: 'ReleaseSlot' })).toEqual([
      ['SlotDeferred 1'],
      ['SlotNotRun 1 closed'],
      [],
    ]);
  });

  test('missed ones are noted beside the one run that makes up for them', () => {
    const missed = { from: HOUR, before: 9 * HOUR, count: 8, atLeast: false };
    expect(play(due(9, { missed, late: true }))).toEqual([['SlotsMissed 8', 'SlotRequested 9']]);
    expect(play(due(9, { missed, run: false }))).toEqual([['SlotsMissed 8', 'SlotNotRun 9 missed']]);
    expect(play({ ...due(0, { missed }), slot: null }, due(8), due(9))).toEqual([
      ['SlotsMissed 8'],
      [],
      ['SlotRequested 9'],
    ]);
  });

  test('a refusal is noted once, of slots that were requested', () => {
    const refused: SlotCommand = { type: 'NoteRefusal', slot: HOUR, code: 'agent_locked' };
    expect(play(refused, due(1), refused, refused)).toEqual([
      [],
      ['SlotRequested 1'],
      ['SlotNotRun 1 refused'],
      [],
    ]);
  });
});
