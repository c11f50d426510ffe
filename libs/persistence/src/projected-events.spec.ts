import { mayHold } from './projected-events';

const commit = (...types: string[]) => ({
  body: Buffer.from(JSON.stringify(types.map((type) => ({ type, data: { text: 'so "runyard.' } })))),
});

test('a commit may hold what one of its types is named, whatever the others are', () => {
  const started = commit('runyard.RunStarted.v1', 'runyard.RunQueued.v2');
  expect(mayHold(started, ['RunQueued'])).toBe(true);
  expect(mayHold(started, new Set(['RunFailed', 'RunStarted']))).toBe(true);
  expect(mayHold(started, ['Run', 'RunQueuedAgain', 'Queued'])).toBe(false);
  expect(mayHold({ body: Buffer.alloc(0) }, ['RunQueued'])).toBe(false);
});

test('a text that ends within what looks like a type ends the look as well', () => {
  expect(mayHold({ body: Buffer.from('"runyard.') }, ['RunQueued'])).toBe(false);
});
