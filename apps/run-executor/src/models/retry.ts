import type { ModelFailure } from './types';

/** First wait in milliseconds; doubled with each attempt. Short, because most failures pass at once. */
export const BASE_DELAY_MS = 500;
/** Longest wait of our own; longer ones only burn the run's deadline. */
export const LONGEST_DELAY_MS = 30_000;
/** Attempts at one route while another one is left: an outage of one provider must not hold a run that another can serve. */
export const ATTEMPTS_BEFORE_FALLBACK = 3;
/** Attempts at the last route: about two minutes of waiting, which outlives a restart of a provider. */
export const ATTEMPTS_AT_LAST_ROUTE = 8;
/** Attempts of which the last was interrupted after content: each one was paid for, so one clean retry (C21) or two. */
export const ATTEMPTS_IF_INTERRUPTED = 3;
/** A provider that asks for a longer wait is left for the next route, where there is one. */
export const PATIENCE_MS = 20_000;

export interface RetryCircumstances {
  /** Attempts made at this route, the failed one included. */
  attempt: number;
  /** Place of the route that failed. */
  routeIndex: number;
  /** All routes of the run, in order. */
  routes: { readonly length: number };
  /** Milliseconds until the run's deadline. */
  deadlineLeftMs: number;
  /** From 0 to 1, fetched by the caller: spreads the attempts of many runs. */
  random: number;
}

export interface RetryDecision {
  /** `retry` the same route after `retryInMs`, `fallback` to the next one at once, or `give_up`. */
  next: 'retry' | 'fallback' | 'give_up';
  retryInMs: number;
}

const GIVE_UP: RetryDecision = { next: 'give_up', retryInMs: 0 };

/**
 * What follows a failed model call (domain, section 4): failures that may pass are retried inside the deadline, and all
 * others fall back along the routes. A cancelled call and a recording that differs are nobody else's to repeat.
 */
export function nextAfterFailure(failure: ModelFailure, at: RetryCircumstances): RetryDecision {
  if (failure.code === 'cancelled' || failure.code === 'recording_differs') return GIVE_UP;
  const onward = at.routeIndex + 1 < at.routes.length;
  const instead: RetryDecision = onward ? { next: 'fallback', retryInMs: 0 } : GIVE_UP;
  if (!failure.retryable || at.attempt >= attemptsAllowed(failure, onward)) return instead;
  if (onward && (failure.retryAfterMs ?? 0) > PATIENCE_MS) return instead;
  const retryInMs = Math.max(failure.retryAfterMs ?? 0, backoffMs(at.attempt, at.random));
  return retryInMs < at.deadlineLeftMs ? { next: 'retry', retryInMs } : instead;
}

function attemptsAllowed(failure: ModelFailure, onward: boolean): number {
  const allowed = onward ? ATTEMPTS_BEFORE_FALLBACK : ATTEMPTS_AT_LAST_ROUTE;
  return failure.code === 'interrupted' ? Math.min(allowed, ATTEMPTS_IF_INTERRUPTED) : allowed;
}

/** Exponential with jitter over the upper half: never at once, never all together. */
export function backoffMs(attempt: number, random: number): number {
  const full = Math.min(LONGEST_DELAY_MS, BASE_DELAY_MS * 2 ** Math.max(0, attempt - 1));
  return Math.round(full / 2 + (full / 2) * random);
}
