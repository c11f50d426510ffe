import { NoAnswer, Refused } from './failures';

/** First wait, milliseconds; doubled with every further one up to the longest. */
const FIRST_MS = 500;
const LONGEST_MS = 30_000;
/** A server that names a longer wait than this gets no retry: the caller is told instead. */
const PATIENCE_MS = 60_000;

/** Posts whose second handling makes a second thing where the first answer was lost on our side of the platform. */
const MAKES_TWO: ReadonlySet<string> = new Set(['POST /v1/keys', 'POST /v1/conversations']);

/** True where handling a request twice does no harm. A PATCH may undo what somebody else has changed in between. */
export const isRepeatable = (route: string): boolean => !route.startsWith('PATCH ') && !MAKES_TWO.has(route);

/** True where a failure may be followed by the same request, under the same idempotency key. */
export function mayRetry(failure: unknown, repeatable: boolean): boolean {
  if (failure instanceof NoAnswer) return repeatable;
  if (!(failure instanceof Refused) || !failure.retryable) return false;
  // Refused before anything was done, or answered by the first request's answer.
  const untouched = failure.code === 'rate_limited' || failure.code === 'request_in_progress';
  // A busy conversation stays so for as long as a run takes: waiting for it is the caller's decision.
  return failure.code !== 'conversation_busy' && (untouched || repeatable);
}

/** Milliseconds before the n-th retry (from 1); undefined: not worth waiting. `random` is 0 to 1. */
export function waitBefore(attempt: number, retryAfter: string | null, random: number): number | undefined {
  const asked = retryAfterMs(retryAfter);
  if (asked !== undefined && asked > PATIENCE_MS) return undefined;
  const backoff = Math.min(FIRST_MS * 2 ** (attempt - 1), LONGEST_MS);
  // Half of it is chance, so that clients which failed together do not come back together.
  return (asked ?? 0) + backoff * (0.5 + random / 2);
}

function retryAfterMs(header: string | null): number | undefined {
  const seconds = Number(header ?? Number.NaN);
  return header !== null && header.trim() !== '' && seconds >= 0 ? seconds * 1_000 : undefined;
}

/** Waits; rejects with the signal's reason when it fires. */
export function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
