import type { RunEvent } from '@runyard/contracts';
import { cancelRequestOf, receiptOf } from './cancellation';

const usage = (input: number, output: number, estimated = false) => ({ input, output, cached: 0, estimated });
const log = (...parts: [number, string, object?][]): RunEvent[] =>
  parts.map(
    ([time, type, data = {}]) =>
      JSON.parse(JSON.stringify({ type, time, actor: 'user:ada', data })) as RunEvent,
  );
const call = (callId: string) => ({ step: 1, callId, tool: 'write' });
const asked: [number, string, object] = [10, 'RunCancelRequested', { reason: 'user' }];

it('says what was under way, what became of it, and what was spent afterwards', () => {
  const events = log(
    [1, 'RunQueued'],
    [2, 'ModelCallStarted', { step: 1, model: 'm' }],
    [3, 'ModelTurnCompleted', { step: 1, usage: usage(100, 10) }],
    [4, 'ToolCallStarted', call('a')],
    [4, 'ToolCallStarted', call('b')],
    [4, 'ToolCallStarted', call('c')],
    [5, 'ToolCallSucceeded', call('a')],
    asked,
    [11, 'ToolCallCancelled', call('b')],
    [11, 'ToolCallAmbiguous', call('c')],
    [12, 'ToolCallCancelled', call('d')],
    [12, 'RunCancelled', { reason: 'user' }],
  );
  expect(receiptOf(events, 10)).toEqual({
    requested: { time: 10, reason: 'user', actor: 'user:ada' },
    quietAt: 12,
    stopped: [
      { kind: 'tool_call', step: 1, name: 'write', callId: 'b', outcome: 'cancelled' },
      { kind: 'tool_call', step: 1, name: 'write', callId: 'c', outcome: 'ambiguous' },
    ],
    notSent: 1,
    tokensAfter: 0,
    estimatedAfter: 0,
  });
});

it.each([
  ['cancelled', { error: { code: 'cancelled' }, usage: usage(50, 7, true) }, 'ModelCallFailed', 57],
  ['failed', { error: { code: 'rate_limited' }, usage: usage(0, 0) }, 'ModelCallFailed', 0],
  ['completed', { usage: usage(40, 2) }, 'ModelTurnCompleted', 0],
])('counts a model call that was %s after the request', (outcome, data, type, estimated) => {
  const events = log([1, 'RunQueued'], [2, 'ModelCallStarted', { step: 1, model: 'm' }], asked, [
    15,
    type,
    data,
  ]);
  expect(receiptOf(events, 10)).toMatchObject({
    quietAt: null,
    stopped: [{ kind: 'model_call', name: 'm', outcome }],
    tokensAfter: data.usage.input + data.usage.output,
    estimatedAfter: estimated,
  });
});

it('counts what a descendant spent from the moment its root was asked, though it heard later', () => {
  const events = log(
    [1, 'RunQueued'],
    [2, 'ModelCallStarted', { step: 1, model: 'm' }],
    [8, 'ModelTurnCompleted', { step: 1, usage: usage(10, 1) }],
    [8, 'ModelCallStarted', { step: 2, model: 'm' }],
    asked,
    [11, 'ModelCallFailed', { step: 2, error: { code: 'cancelled' }, usage: usage(5, 5) }],
    [11, 'RunCancelled', { reason: 'parent' }],
  );
  expect(receiptOf(events, 5)).toMatchObject({
    tokensAfter: 21,
    stopped: [{ step: 1, outcome: 'completed' }],
  });
});

it('knows runs that were ended without being asked, that nobody asked, and that are not there', () => {
  expect(cancelRequestOf(log([1, 'RunCancelled', { reason: 'parent' }]))).toMatchObject({ time: 1 });
  expect(cancelRequestOf(log([1, 'RunQueued'], [2, 'RunSucceeded']))).toBeNull();
  expect(receiptOf([], 5)).toMatchObject({ requested: null, quietAt: null, stopped: [], tokensAfter: 0 });
});
