import { dataFolder, hasAirline } from '../tau-bench/data.config';
import { readSource } from '../tau-bench/source';
import type { Dialog } from '../tau-bench/source';
import { answerText } from './answer-text';
import { calculate } from './calculator';
import { rewardOf, stateOf } from './rewards';
import { callTool } from './tools';
import { newWorld, readLibrary } from './world';
import type { World } from './world';

jest.setTimeout(120_000);

const folder = dataFolder();
const data = folder !== undefined && hasAirline(folder) ? folder : undefined;
if (data === undefined)
  process.stderr.write(
    'RUNYARD_DATA names no data of the airline: the recorded calls of the airline are left out (README, "Data").\n',
  );

interface Answered {
  tool: string;
  given: string;
  answered: string | undefined;
  recorded: string;
}

/** Makes the calls of a dialog in their order. */
function play({ source: { traj } }: Dialog, world: World): Answered[] {
  return traj.flatMap((message, index) =>
    (message.tool_calls ?? []).map(({ function: { name, arguments: given } }, offset) => ({
      tool: name,
      given,
      answered: callTool(world, name, JSON.parse(given) as object),
      recorded: traj[index + 1 + offset]?.content ?? '',
    })),
  );
}

const recorded = data === undefined ? undefined : { library: readLibrary(data), source: readSource(data) };
const onData = (work: (found: NonNullable<typeof recorded>) => void) => () =>
  recorded ? work(recorded) : undefined;

describe('the airline, against every recorded call', () => {
  test(
    'answers all 1,164 byte for byte',
    onData(({ library, source }) => {
      const calls = source.dialogs.flatMap((dialog) => play(dialog, newWorld(library)));
      expect(calls).toHaveLength(1_164);
      expect(calls.filter((call) => call.answered !== call.recorded).slice(0, 3)).toEqual([]);
    }),
  );

  test(
    'leaves worlds that agree with the recorded rewards for 199 of 200; the other was cut by a cap',
    onData(({ library, source }) => {
      const agreeing = source.dialogs.filter((dialog) => {
        const world = newWorld(library);
        play(dialog, world);
        const reward = rewardOf(library, dialog.source, stateOf(library, world), dialog.source.traj);
        return reward === dialog.source.reward;
      });
      expect([agreeing.length, source.dialogs.length]).toEqual([199, 200]);
    }),
  );
});

describe('without data', () => {
  test('sums are worked out and nothing else is', () => {
    expect(calculate('(13 - 4) + (16 - 13)')).toBe('12.0');
    expect(calculate('498 * 1.5')).toBe('747.0');
    expect(calculate('-3 / 2')).toBe('-1.5');
    for (const wrong of ['process.exit()', '1 +', '(1', '1 / 0', ''])
      expect(() => calculate(wrong)).toThrow(/invalid|zero/);
  });

  test('what cannot be is an answer, and there is no tool that nobody wrote', () => {
    const nobody = newWorld({ users: {}, reservations: {}, flights: {} });
    expect(callTool(nobody, 'get_user_details', { user_id: 'x' })).toBe('Error: user not found');
    expect(callTool(nobody, 'cancel_reservation', { reservation_id: 'x' })).toBe(
      'Error: reservation not found',
    );
    expect(callTool(nobody, 'constructor', {})).toBeUndefined();
  });

  test('a booking keeps nothing of what it was given, so that what was asked can still be compared later', () => {
    const user = {
      payment_methods: { card: { source: 'credit_card' as const, id: 'card' } },
      reservations: [],
    };
    const world = newWorld({ users: { u: user }, reservations: {}, flights: {} });
    const nothing = { flights: [], passengers: [], total_baggages: 1, nonfree_baggages: 1, insurance: 'no' };
    const given = { user_id: 'u', ...nothing, payment_methods: [{ payment_id: 'card', amount: 50 }] };
    const before = JSON.stringify(given);
    expect(callTool(world, 'book_reservation', given)).toContain('HATHAT');
    expect(callTool(world, 'cancel_reservation', { reservation_id: 'HATHAT' })).toContain('cancelled');
    expect(JSON.stringify(given)).toBe(before);
  });

  test('answers are JSON with spaces and without letters beyond ASCII', () => {
    expect(answerText({ a: [1, 'é"', null], b: {} })).toBe('{"a": [1, "\\u00e9\\"", null], "b": {}}');
  });
});
