import { types } from 'node:util';
import { DatabaseError } from 'pg';
import { Problem } from '@runyard/contracts';

/** Somebody asked for a second connection while holding one: with all connections held like that, everybody waits for ever (C71). */
export class SecondConnection extends Error {
  constructor(asked: string, held: string) {
    super(`${asked} was called inside ${held}; use the transaction's own tx, or move the call outside`);
  }
}

/** The transaction's work let go of its tx: a query was still running at the end, or came after it. */
export class TransactionMisused extends Error {}

/** SQLSTATE: connection lost or refused, too many connections, shutdown, time-out, deadlock, lock not available. */
const PASSING = /^(08...|53[0-4]..|57P0[1-5]|57014|55P03|40001|40P01|25P0[34])$/;
const NETWORK = /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN)$/;
/** node-postgres says these without any code. */
const WORDS =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|not queryable|client was closed|server login/i;

const codeOf = (error: object): string =>
  'code' in error && typeof error.code === 'string' ? error.code : '';

/** Whether the same work may succeed a moment later: the database was not reachable, or too busy, or chose another transaction. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Problem) return error.code === 'unavailable';
  // Errors of Node itself come from another realm under jest: `instanceof Error` would miss them.
  if (!types.isNativeError(error)) return false;
  if ('errors' in error && Array.isArray(error.errors) && error.errors.some(isPassing)) return true;
  const code = codeOf(error);
  return error instanceof DatabaseError
    ? PASSING.test(code)
    : NETWORK.test(code) || WORDS.test(error.message);
}

/** Failures that pass become the Problem `unavailable` (503); everything else stays what it is. */
export function translated(error: unknown): unknown {
  if (error instanceof Problem || !isPassing(error)) return error;
  const unavailable = new Problem('unavailable', 'The database is not available at the moment', {
    retryAfterSeconds: 1,
  });
  unavailable.cause = error;
  return unavailable;
}
