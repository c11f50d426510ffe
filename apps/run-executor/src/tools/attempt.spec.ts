import { Attempt } from './attempt';
import {
  AfterSending,
  Answered,
  AnswerTooLarge,
  BeforeSending,
  Forbidden,
  Misconfigured,
} from './exchange.errors';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

const never = new AbortController().signal;

describe('C28 progress extends the time-out, up to a hard cap (TulipFarm/tulipfarm#181)', () => {
  it('a tool that reports every 5 s for 80 s outlives its limit of 30 s', () => {
    const attempt = new Attempt(never, 30_000, 600_000);
    for (let second = 0; second < 80; second += 5) {
      jest.advanceTimersByTime(5_000);
      attempt.alive();
    }
    expect(attempt.signal.aborted).toBe(false);
    jest.advanceTimersByTime(30_000);
    expect(attempt.signal.aborted).toBe(true);
    attempt.end();
  });

  it('but not its cap', () => {
    const attempt = new Attempt(never, 30_000, 60_000);
    for (let second = 0; second < 55; second += 5) {
      jest.advanceTimersByTime(5_000);
      attempt.alive();
    }
    expect(attempt.signal.aborted).toBe(false);
    jest.advanceTimersByTime(5_000);
    expect(attempt.signal.aborted).toBe(true);
    attempt.alive();
    attempt.end();
    expect(jest.getTimerCount()).toBe(0);
  });
});

it.each([
  [new Forbidden('x'), 'refused', 'none'],
  [new BeforeSending('x'), 'not_sent', 'none'],
  [new AfterSending('x'), 'connection', 'unknown'],
  [new Error('x'), 'connection', 'unknown'],
  [new Answered('x', false), 'tool_error', 'none'],
  [new AnswerTooLarge(5), 'too_large', 'none'],
  [new Misconfigured('x'), 'misconfigured', 'none'],
])('%p means %s, effect %s', (error, code, effect) => {
  const attempt = new Attempt(never, 1_000);
  expect(attempt.failure(error)).toMatchObject({ ok: false, code, effect });
  attempt.end();
});

it.each([
  [new BeforeSending('aborted'), 'none', 'not_sent'],
  [new AfterSending('aborted'), 'unknown', 'timeout'],
])('a stop counts by how far the call had come', (error, effect, code) => {
  const timed = new Attempt(never, 1_000);
  jest.advanceTimersByTime(1_000);
  expect(timed.failure(error)).toMatchObject({ effect, code });
  const cancelled = new Attempt(AbortSignal.abort(), 1_000);
  expect(cancelled.failure(error)).toMatchObject({ effect, code: 'cancelled' });
  cancelled.end();
});
