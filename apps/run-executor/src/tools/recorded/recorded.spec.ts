import type { Json, JsonObject } from '@runyard/contracts';
import type { RecordingReader, ToolCall } from '../types';
import { recordedTools } from './recorded.adapter';
import { differenceOf } from './recording';

const call = (
  position: number,
  name: string,
  given: JsonObject,
  conversationId: string | null = null,
): ToolCall => ({
  org: 'o',
  runId: 'r',
  conversationId,
  callId: 'c',
  ownerId: 'u',
  tool: {
    name,
    description: '',
    inputSchema: {},
    effect: 'write',
    idempotent: false,
    source: { kind: 'recorded', recording: '' },
    timeoutMs: 1,
    endsRun: false,
  },
  arguments: given,
  position,
  idempotencyKey: 'k',
  signal: new AbortController().signal,
});

const one = (result: string) => [{ tool: 'look', arguments: {}, result }];
const FILES: Record<string, unknown> = {
  'single.json': JSON.stringify({
    format: 'runyard-tool-recording/1',
    calls: [
      { tool: 'find', arguments: { b: [1, { c: null }], a: 'x' }, result: 'found' },
      { tool: 'book', arguments: { n: 1 }, result: 'Error: full', failed: true },
    ],
  }),
  'many.json': {
    format: 'runyard-tool-recording/1',
    dialogs: ['task-1', 'task-1-2', 'task-10'].map((name) => ({ name, calls: one(name) })),
  },
  'broken.json': '{"format":"runyard-tool-recording/1","calls":[{"tool":1}]}',
};
const play = recordedTools(async (name) => FILES[name]);

it('answers by position, whatever the order of keys', async () => {
  expect(await play(call(0, 'find', { a: 'x', b: [1, { c: null }] }), 'single.json')).toEqual({
    ok: true,
    text: 'found',
  });
  expect(await play(call(1, 'book', { n: 1 }), 'single.json')).toMatchObject({
    ok: false,
    code: 'tool_error',
    text: 'Error: full',
  });
  // A repetition after a crash is answered alike.
  expect(await play(call(0, 'find', { a: 'x', b: [1, { c: null }] }), 'single.json')).toEqual({
    ok: true,
    text: 'found',
  });
});

it.each([
  [call(0, 'find', { a: 'x', b: [1, { c: 2 }] }), '/b/1/c: recorded null, called with 2'],
  [call(0, 'find', { a: 'x' }), '/b: recorded [1,{"c":null}], called with nothing'],
  [call(0, 'find', { a: 'x', b: [1, { c: null }], d: 0 }), '/d: recorded nothing, called with 0'],
  [call(0, 'book', { n: 1 }), 'recorded find, called book'],
  [call(2, 'book', { n: 1 }), 'Call 3 of the recorded dialog does not exist; there are 2'],
])('refuses what differs, and names it', async (different, reason) => {
  expect(await play(different, 'single.json')).toMatchObject({
    ok: false,
    code: 'refused',
    effect: 'none',
    text: expect.stringContaining(reason),
  });
});

describe('a dialog of many is found', () => {
  it.each([
    ['many.json', 'task-1', 'task-1'],
    ['many.json', 'task-1-2', 'task-1-2'],
    ['many.json', 'task-1-2-replay-3', 'task-1-2'],
    ['many.json', 'task-1-3', 'task-1'],
    ['many.json', 'task-10-x', 'task-10'],
    ['many.json#task-10', 'task-1', 'task-10'],
  ])('%s of conversation %s', async (recording, conversation, text) => {
    expect(await play(call(0, 'look', {}, conversation), recording)).toEqual({ ok: true, text });
  });

  it.each([
    ['many.json', 'task-2'],
    ['many.json', 'task'],
    ['many.json', null],
    ['many.json#task', 'task-1'],
  ])('or refused: %s of %s', async (recording, conversation) => {
    expect(await play(call(0, 'look', {}, conversation), recording)).toMatchObject({
      ok: false,
      code: 'refused',
    });
  });
});

it("a missing or broken file is the deployment's fault, and may be put right", async () => {
  let content: unknown;
  const reader: RecordingReader = async () => content;
  const later = recordedTools(reader);
  expect(await later(call(0, 'look', {}), 'x.json')).toMatchObject({
    code: 'misconfigured',
    text: expect.stringContaining('no such recording'),
  });
  content = FILES['broken.json'];
  expect(await later(call(0, 'look', {}), 'x.json')).toMatchObject({ code: 'misconfigured' });
  content = FILES['many.json'];
  expect(await later(call(0, 'look', {}, 'task-1'), 'x.json')).toEqual({ ok: true, text: 'task-1' });
});

it.each<[Json, Json, string | undefined]>([
  [{ a: 1 }, { a: 1 }, undefined],
  [[1, 2], [1], 'the arguments: recorded [1,2], called with [1]'],
  [{ a: [] }, { a: {} }, '/a: recorded [], called with {}'],
  [1, '1', 'the arguments: recorded 1, called with "1"'],
])('the difference of %j and %j', (expected, actual, text) => {
  expect(differenceOf(expected, actual)).toBe(text);
});
