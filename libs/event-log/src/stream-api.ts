import { setTimeout as wait } from 'node:timers/promises';
import type { Msg } from '@nats-io/transport-node';
import type { Exchange } from './exchange';
import { NoAnswer } from './exchange';
import { LogUnavailable } from './types';

/** Codes of JetStream's errors that mean something to us. */
export const CODES = {
  consumerNotFound: 10014,
  noMessageFound: 10037,
  messageTooLarge: 10054,
  streamNotFound: 10059,
  wrongLastSequence: 10071,
  /** Given in clusters while another append to the subject is in flight; carries no sequence. */
  wrongLastSequenceUnknown: 10164,
} as const;

/** A refusal of the JetStream API. */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly status: number,
    readonly description: string,
  ) {
    super(`JetStream refused (${code}): ${description}`);
  }
}

interface ErrorBody {
  error?: { code: number; err_code?: number; description?: string };
}

/** Parses an answer of the JetStream API, or throws its ApiError. */
export function parseAnswer<T extends object>(message: Msg): T {
  const body = message.json<T & ErrorBody>();
  if (body.error)
    throw new ApiError(
      body.error.err_code ?? 0,
      body.error.code,
      body.error.description ?? 'no reason given',
    );
  return body;
}

const FIRST_PAUSE_MS = 25;
const LONGEST_PAUSE_MS = 500;

/** Pause before attempt `attempt` + 1 to reach a server that does not answer. */
export const pauseMs = (attempt: number): number => Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** attempt);

/** True where asking again may help: nobody answered, or the server is starting, without leader or overloaded. */
export const isPassing = (error: unknown): boolean =>
  (error instanceof NoAnswer && error.why !== 'closed') ||
  (error instanceof ApiError && error.status === 503);

export interface Patience {
  /** Milliseconds for one try. */
  tryMs: number;
  /** Milliseconds for all tries together. */
  limitMs: number;
}

/**
 * Asks the JetStream API a question without side effects, again and again until it answers. Throws ApiError, and
 * LogUnavailable after the limit.
 */
export async function ask<T extends object>(
  exchange: Exchange,
  subject: string,
  body: string,
  patience: Patience,
): Promise<T> {
  const until = performance.now() + patience.limitMs;
  for (let attempt = 0; ; attempt++) {
    try {
      return parseAnswer<T>(await exchange.request(`$JS.API.${subject}`, body, patience.tryMs));
    } catch (error) {
      if (error instanceof NoAnswer && error.why === 'closed')
        throw new LogUnavailable('The connection is closed');
      if (!isPassing(error)) throw error;
      if (performance.now() >= until)
        throw new LogUnavailable(`${subject} did not answer: ${(error as Error).message}`);
      if (!(error instanceof NoAnswer) || error.why === 'no_responders') await wait(pauseMs(attempt));
    }
  }
}
