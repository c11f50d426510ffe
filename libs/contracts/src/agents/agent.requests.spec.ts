import { Problem } from '../problems';
import { parseWith } from '../validate';
import { createAgentSchema } from './agent.requests';

const AGENT = { agent_id: 'a', name: 'A', prompt: 'Help.' };
const daily = (time: string) => ({ schedule: { type: 'calendar', cadence: 'daily', time } });
const weekly = (weekday?: number) => ({
  schedule: { type: 'calendar', cadence: 'weekly', weekday, time: '06:00' },
});
const every = (every_hours: number) => ({ schedule: { type: 'interval', every_hours } });
const cron = (expression: string, time_zone: string) => ({
  schedule: { type: 'cron', expression, time_zone },
});

// Unknown models and tools, edits of an old version and crons that never fire are refused where those are known: the
// registry's and the scheduler's specs.
test.each<[what: string, input: object, pointer: string, remedy: string]>([
  [
    'an unknown zone',
    cron('0 6 * * *', 'Europe/Nowhere'),
    '/schedule/time_zone',
    'must be an IANA time zone name, such as Europe/Berlin',
  ],
  ['25:61', daily('25:61'), '/schedule/time', 'must be a local time HH:MM'],
  ['24:00', daily('24:00'), '/schedule/time', 'must be a local time HH:MM'],
  ['weekday 7', weekly(7), '/schedule/weekday', 'must be at most 6'],
  ['weekday -1', weekly(-1), '/schedule/weekday', 'must be at least 0'],
  ['no weekday', weekly(), '/schedule/weekday', 'is required for a weekly schedule'],
  ['every_hours 0', every(0), '/schedule/every_hours', 'must be at least 1'],
  ['every_hours 1e9', every(1e9), '/schedule/every_hours', 'must be at most 8760'],
  [
    'no cron',
    cron('now and then', 'UTC'),
    '/schedule/expression',
    'must be a cron expression of five fields',
  ],
  [
    'an unknown type',
    { schedule: { type: 'yearly' } },
    '/schedule/type',
    'must be of type interval, calendar or cron',
  ],
  ['an overlong name', { name: 'x'.repeat(201) }, '/name', 'must be at most 200 characters'],
  ['an empty name', { name: '' }, '/name', 'must not be empty'],
  ['an overlong prompt', { prompt: 'x'.repeat(40_001) }, '/prompt', 'must be at most 40000 characters'],
  ['an empty prompt', { prompt: '' }, '/prompt', 'must not be empty'],
])('%s is refused with the field and what it must be', (_what, input, pointer, remedy) => {
  let refused: unknown;
  try {
    parseWith(createAgentSchema, { ...AGENT, ...input });
  } catch (error) {
    refused = error;
  }
  expect(refused).toBeInstanceOf(Problem);
  expect(refused).toMatchObject({
    code: 'invalid_request',
    facts: { errors: [{ pointer, detail: remedy }] },
  });
});

test.each([daily('00:00'), weekly(0), weekly(6), every(1), every(8_760), cron('0 6 * * 1', 'Europe/Berlin')])(
  '%j can be saved',
  (input) => expect(() => parseWith(createAgentSchema, { ...AGENT, ...input })).not.toThrow(),
);
