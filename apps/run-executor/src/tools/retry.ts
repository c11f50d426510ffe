import type { ToolDefinition } from '@runyard/contracts';
import type { ToolResult } from './types';

/** Attempts at one call in all. More would hold a run for long at a service that is down. */
export const MAX_TOOL_ATTEMPTS = 3;
/** Wait before the second attempt; it doubles with every further one. Shorter waits meet the same overload again. */
export const FIRST_RETRY_DELAY_MS = 500;
/** No backoff of ours is longer. */
export const MAX_RETRY_DELAY_MS = 8_000;
/** A `Retry-After` beyond this is not waited for: the model sees the error instead of a run that stands still. */
export const MAX_RETRY_AFTER_MS = 30_000;

export type AfterFailure =
  /** The model sees the failure. `exhausted`: the retry policy is spent, which ends the run with `ToolFailure`. */
  | { then: 'observe'; exhausted: boolean }
  | { then: 'retry'; delayMs: number }
  /** It may have happened and must not be repeated blindly (P4.1): ask a person, or end `unknown_effect`. */
  | { then: 'ambiguous' };

type Repeatable = Pick<ToolDefinition, 'effect' | 'idempotent'>;

const harmlessToRepeat = (tool: Repeatable): boolean => tool.effect === 'read' || tool.idempotent;

/**
 * What follows a failed attempt; pure, so that a replay decides the same. Retries only where the tool is `read` or
 * idempotent, or the failure provably precedes sending (P4.1). `attempt` is the attempt that failed, 1 for the first.
 */
export function afterFailure(tool: Repeatable, result: ToolResult, attempt: number): AfterFailure {
  if (result.ok) return { then: 'observe', exhausted: false };
  const safe = harmlessToRepeat(tool);
  if (result.effect === 'unknown' && !safe) return { then: 'ambiguous' };
  const mayRetry = result.transient && (safe || (result.effect === 'none' && result.code === 'not_sent'));
  if (!mayRetry || (result.retryAfterMs ?? 0) > MAX_RETRY_AFTER_MS)
    return { then: 'observe', exhausted: false };
  if (attempt >= MAX_TOOL_ATTEMPTS) return { then: 'observe', exhausted: true };
  return { then: 'retry', delayMs: Math.max(result.retryAfterMs ?? 0, backoff(attempt)) };
}

const backoff = (attempt: number): number =>
  Math.min(FIRST_RETRY_DELAY_MS * 2 ** (attempt - 1), MAX_RETRY_DELAY_MS);
