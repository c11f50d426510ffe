import { randomBytes } from 'node:crypto';
import { InvalidToken, PROBLEMS, Problem } from '@runyard/contracts';
import type { ProblemCode } from '@runyard/contracts';
import { CommitTooLarge, LogUnavailable, VersionConflict } from '@runyard/event-log';
import { isPassing } from '@runyard/persistence';
import type { Logger } from './logger';

/**
 * The one place where failures become refusals. Known ones say what to do next; an unknown one is logged whole under
 * a reference, and the caller gets the reference only: its text may hold what the caller must not see.
 */
export function toProblem(error: unknown, logger: Logger, during: string): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof InvalidToken)
    return new Problem('invalid_request', error.message, {
      errors: [{ pointer: '/', detail: error.message }],
    });
  if (error instanceof VersionConflict)
    return new Problem(
      'conflict',
      'It was changed by others at the same time, several times in a row; try again',
      { retryable: true },
    );
  if (error instanceof CommitTooLarge)
    return new Problem('payload_too_large', error.message, { bytes: error.bytes });
  if (error instanceof LogUnavailable || isPassing(error)) {
    logger.warn({ err: error, during }, 'a neighbour did not answer');
    return new Problem('unavailable', 'A part of the platform does not answer; try again shortly', {
      retryable: true,
      retryAfterSeconds: 1,
    });
  }
  const reference = randomBytes(6).toString('hex');
  logger.error({ err: error, during, reference }, 'a request failed unexpectedly');
  return new Problem('internal', `Something went wrong on our side; its reference is ${reference}`, {
    reference,
  });
}

/** A refusal as it travels over the bus, back into a Problem. A code of a newer version reads as `internal`. */
export function problemOf(problem: {
  code: string;
  message: string;
  facts?: Record<string, unknown>;
}): Problem {
  const code: ProblemCode = problem.code in PROBLEMS ? (problem.code as ProblemCode) : 'internal';
  return new Problem(code, problem.message, problem.facts ?? {});
}
