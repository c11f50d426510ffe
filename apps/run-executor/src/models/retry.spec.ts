import fc from 'fast-check';
import { failure } from './provider.errors';
import {
  ATTEMPTS_AT_LAST_ROUTE,
  ATTEMPTS_BEFORE_FALLBACK,
  ATTEMPTS_IF_INTERRUPTED,
  backoffMs,
  BASE_DELAY_MS,
  LONGEST_DELAY_MS,
  nextAfterFailure,
  PATIENCE_MS,
  type RetryCircumstances,
} from './retry';

const at = (more: Partial<RetryCircumstances> = {}): RetryCircumstances => ({
  attempt: 1,
  routeIndex: 0,
  routes: { length: 1 },
  deadlineLeftMs: 600_000,
  random: 0.5,
  ...more,
});
const two = { routes: { length: 2 } };
const limited = (retryAfterMs: number | null) =>
  failure('rate_limited', 'x', { status: 429, retryable: true, retryAfterMs });
const outage = failure('provider_unavailable', 'x', { status: 503, retryable: true });
const interrupted = failure('interrupted', 'x', { retryable: true, partialText: 'half' });
const invalid = failure('provider_invalid', 'x', { status: 400 });

describe('a failure that may pass', () => {
  it('is retried with growing waits', () => {
    expect(nextAfterFailure(outage, at({ random: 1 }))).toEqual({ next: 'retry', retryInMs: BASE_DELAY_MS });
    expect(nextAfterFailure(outage, at({ attempt: 3, random: 1 }))).toEqual({
      next: 'retry',
      retryInMs: BASE_DELAY_MS * 4,
    });
  });
  it('falls back after some attempts, and without another route only after many', () => {
    expect(nextAfterFailure(outage, at({ attempt: ATTEMPTS_BEFORE_FALLBACK, ...two })).next).toBe('fallback');
    expect(nextAfterFailure(outage, at({ attempt: ATTEMPTS_BEFORE_FALLBACK })).next).toBe('retry');
    expect(nextAfterFailure(outage, at({ attempt: ATTEMPTS_AT_LAST_ROUTE })).next).toBe('give_up');
    expect(
      nextAfterFailure(outage, at({ attempt: ATTEMPTS_BEFORE_FALLBACK, routeIndex: 1, ...two })).next,
    ).toBe('retry');
  });
  it('waits as long as the provider asks, where that fits the deadline', () => {
    expect(nextAfterFailure(limited(15_000), at())).toEqual({ next: 'retry', retryInMs: 15_000 });
    expect(nextAfterFailure(limited(15_000), at({ deadlineLeftMs: 14_000 })).next).toBe('give_up');
    expect(nextAfterFailure(limited(15_000), at({ deadlineLeftMs: 14_000, ...two })).next).toBe('fallback');
    expect(nextAfterFailure(limited(PATIENCE_MS + 1), at(two))).toEqual({ next: 'fallback', retryInMs: 0 });
  });
  it('is not retried beyond the deadline', () => {
    expect(nextAfterFailure(outage, at({ deadlineLeftMs: 100 })).next).toBe('give_up');
  });
  it('C21 an interrupted answer gets few clean retries: each attempt was paid for (vercel/ai#10653)', () => {
    expect(nextAfterFailure(interrupted, at()).next).toBe('retry');
    expect(nextAfterFailure(interrupted, at({ attempt: ATTEMPTS_IF_INTERRUPTED })).next).toBe('give_up');
  });
});

it('C22 a refused request is not retried, but another model may take it (block/buzz#559)', () => {
  expect(nextAfterFailure(invalid, at()).next).toBe('give_up');
  expect(nextAfterFailure(invalid, at(two))).toEqual({ next: 'fallback', retryInMs: 0 });
});

it('cancelled calls and recordings that differ end there', () => {
  expect(nextAfterFailure(failure('cancelled', 'x'), at(two)).next).toBe('give_up');
  expect(nextAfterFailure(failure('recording_differs', 'x'), at(two)).next).toBe('give_up');
});

it('waits stay within their bounds, and a run of failures always ends', () => {
  const chance = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2_000 }), chance, (attempt, random) => {
      expect(backoffMs(attempt, random)).toBeGreaterThanOrEqual(BASE_DELAY_MS / 2);
      expect(backoffMs(attempt, random)).toBeLessThanOrEqual(LONGEST_DELAY_MS);
      expect(nextAfterFailure(outage, at({ attempt, random, ...two })).next === 'retry').toBe(
        attempt < ATTEMPTS_BEFORE_FALLBACK,
      );
    }),
  );
});
