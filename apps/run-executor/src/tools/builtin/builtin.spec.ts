import type { JsonObject } from '@runyard/contracts';
import { BUILTIN_TOOLS } from '../builtin-tools';
import type { ToolCall, ToolResult } from '../types';
import { runBuiltin } from './builtin.adapter';

const NOW = Date.parse('2026-03-29T01:30:00Z');

function run(name: string, given: JsonObject): ToolResult {
  const tool = BUILTIN_TOOLS.find((builtin) => builtin.name === name)!;
  const call: ToolCall = {
    org: 'o',
    runId: 'r',
    conversationId: null,
    callId: 'c1-0',
    ownerId: 'u',
    tool,
    arguments: given,
    position: 0,
    idempotencyKey: 'k',
    signal: new AbortController().signal,
  };
  return runBuiltin(call, name, () => NOW);
}

const answer = (name: string, given: JsonObject): unknown => {
  const result = run(name, given);
  if (!result.ok) throw new Error(result.text);
  return JSON.parse(result.text);
};

it('calculate answers, and tells the model what it did wrong', () => {
  expect(run('calculate', { expression: '0.1 + 0.2' })).toEqual({ ok: true, text: '0.3' });
  expect(run('calculate', { expression: '1 / 0' })).toMatchObject({
    ok: false,
    code: 'tool_error',
    text: 'Error: division by zero',
  });
});

describe('current_time', () => {
  it.each([
    ['Europe/Berlin', '2026-03-29T03:30:00+02:00'],
    ['America/New_York', '2026-03-28T21:30:00-04:00'],
    ['Asia/Kathmandu', '2026-03-29T07:15:00+05:45'],
    ['UTC', '2026-03-29T01:30:00+00:00'],
  ])('in %s', (time_zone, local) => {
    expect(answer('current_time', { time_zone })).toMatchObject({
      utc: '2026-03-29T01:30:00Z',
      local,
      time_zone,
    });
  });
  it('names the weekday, and UTC without a zone', () => {
    expect(answer('current_time', {})).toMatchObject({ time_zone: 'UTC', weekday: 'Sunday' });
  });
  it('refuses a zone that is not known', () => {
    expect(run('current_time', { time_zone: 'Mars/Base' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('IANA'),
    });
  });
});

describe('date_difference', () => {
  it.each([
    ['2024-02-28', '2024-03-01', { days: 2, weeks: 0, remaining_days: 2, weekdays: 2 }],
    ['2026-11-27', '2026-12-04', { days: 7, weeks: 1, remaining_days: 0, weekdays: 5 }],
    ['2026-12-04', '2026-11-27', { days: -7, weeks: -1, weekdays: -5 }],
    ['2026-11-28', '2026-11-30', { days: 2, weekdays: 0 }],
    ['1969-12-29', '1970-01-05', { days: 7, weekdays: 5 }],
  ])('%s to %s', (from, to, expected) => {
    expect(answer('date_difference', { from, to })).toMatchObject(expected);
  });
  it.each(['2026-02-30', '2026-13-01', '2026-1-1', ''])('refuses %j', (from) => {
    expect(run('date_difference', { from, to: '2026-01-01' })).toMatchObject({
      ok: false,
      code: 'tool_error',
    });
  });
});

describe('json_query', () => {
  const json = '{"items":[{"price":1.5},{"a/b":{"~":true}}],"":0,"n":null}';
  it.each([
    ['/items/0/price', '1.5'],
    ['/items/1/a~1b/~0', 'true'],
    ['/', '0'],
    ['/n', 'null'],
    ['', json],
  ])('%s', (pointer, text) => {
    expect(run('json_query', { json, pointer })).toEqual({ ok: true, text });
  });
  it('outlines what is too long to show', () => {
    expect(run('json_query', { json, pointer: '', keys_only: true })).toEqual({
      ok: true,
      text: '{"keys":["items","","n"]}',
    });
    expect(run('json_query', { json, pointer: '/items', keys_only: true })).toEqual({
      ok: true,
      text: '{"length":2}',
    });
  });
  it.each([
    ['/items/2', 'no item "2" in an array of 2'],
    ['/items/01', 'no item "01"'],
    ['/constructor', 'no key "constructor"; there are items, , n'],
    ['/n/x', 'asked of null'],
    ['items', 'begin with "/"'],
  ])('refuses %s', (pointer, reason) => {
    expect(run('json_query', { json, pointer })).toMatchObject({
      ok: false,
      text: expect.stringContaining(reason),
    });
  });
  it('refuses what is not JSON', () => {
    expect(run('json_query', { json: '{', pointer: '' })).toMatchObject({
      ok: false,
      text: expect.stringContaining('not valid JSON'),
    });
  });
});

it('text_statistics counts what people and limits count', () => {
  expect(answer('text_statistics', { text: 'Hé, 👩‍👩‍👧!\nTwo words. \ud83d' })).toEqual({
    characters: 19,
    code_points: 23,
    words: 3,
    sentences: 3,
    lines: 2,
    bytes: 39,
  });
  expect(answer('text_statistics', { text: '' })).toMatchObject({ characters: 0, words: 0, lines: 0 });
});

it('hand_off gives its summary as the result that ends the run', () => {
  expect(run('hand_off', { summary: 'Refund needs a manager.' })).toEqual({
    ok: true,
    text: 'Refund needs a manager.',
  });
  expect(BUILTIN_TOOLS.filter(({ endsRun }) => endsRun).map(({ name }) => name)).toEqual(['hand_off']);
});

it('every definition is carried out here, and nothing else is', () => {
  for (const { name, source } of BUILTIN_TOOLS) {
    expect(source).toEqual({ kind: 'builtin', name });
    expect(run(name, {})).not.toMatchObject({ code: 'misconfigured' });
  }
  const tool = { ...BUILTIN_TOOLS[0]! };
  const call = { tool, arguments: {} } as unknown as ToolCall;
  expect(runBuiltin(call, 'toString', () => NOW)).toMatchObject({ ok: false, code: 'misconfigured' });
});
