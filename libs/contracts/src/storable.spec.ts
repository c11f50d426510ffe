import { agentVersionSchema } from './agents/agent.requests';
import { listRulesSchema } from './approvals/permission.requests';
import { allowModelSchema } from './catalogue/catalogue.requests';
import { runPartSchema } from './runs/run.queries';
import { dateSchema, storableTime, timeSchema } from './storable';

const takes = (text: string): boolean => timeSchema().safeParse(text).success;

test.each([
  '2026-11-30T12:00:00Z',
  '2026-11-30T12:00:00.123456789+14:00',
  '0001-01-01T00:00:00Z',
  '9999-12-31T23:59:59-00:00',
])('%s is a time that every part of the platform can hold', (text) => expect(takes(text)).toBe(true));

test.each([
  ['the year 0', '0000-01-01T00:00:00Z'],
  ['a year before 1 by its offset', '0001-01-01T00:00:00+01:00'],
  ['a year after 9999 by its offset', '9999-12-31T23:59:59-01:00'],
  ['an offset that no place has', '2026-11-30T12:00:00+23:59'],
  ['no offset', '2026-11-30T12:00:00'],
  ['no time', 'infinity'],
])('%s is none', (_name, text) => expect(takes(text)).toBe(false));

test('a time that was written before it was checked is moved to the nearest instant that rows hold', () => {
  expect(storableTime('0000-01-01T00:00:00Z')).toBe('0001-01-01T00:00:00.000Z');
  expect(storableTime('9999-12-31T23:59:59-01:00')).toBe('9999-12-31T23:59:59.999Z');
  expect(storableTime('2026-11-30T12:00:00+01:00')).toBe('2026-11-30T11:00:00.000Z');
});

test('a day has a year from 1 on', () => {
  expect(dateSchema().safeParse('0001-01-01').success).toBe(true);
  expect(dateSchema().safeParse('0000-12-31').success).toBe(false);
});

test('a price that begins at no time that rows hold is refused, its place named', () => {
  const price = { currency: 'USD', input: '1', output: '1', cached: '1', valid_from: '0000-01-01T00:00:00Z' };
  const model = {
    model_id: 'm',
    label: 'M',
    tier: 'fast',
    provider: { kind: 'recorded', recording: 'r.json' },
    model: 'm',
    context_window: 1_000,
    prices: [price],
  };
  expect(allowModelSchema.safeParse(model).error?.issues[0]?.path).toEqual(['prices', 0, 'valid_from']);
});

test.each([
  ['a version', agentVersionSchema, { agent_id: 'a', version: 2_147_483_648 }],
  ['a place in a run', runPartSchema, { run_id: 'r', after: 2_147_483_648 }],
  ['a tool', listRulesSchema, { tool: 'a\0b' }],
])('%s that no column holds is refused before it is looked for', (_name, schema, value) =>
  expect(schema.safeParse(value).success).toBe(false),
);
