import { Runyard } from '@runyard/client';
import { readConnection, required } from './config';

/** Longer than the gateway waits for the slowest read, a board as it was: what it says then must come before we ask again. */
const TIMEOUT_MS = 45_000;

/**
 * The HTTP API with the key of the connection, from its file or RUNYARD_API_URL and RUNYARD_API_KEY. Throws CommandFailed
 * where they are not known.
 */
export function apiOf(file: string | undefined): Runyard {
  const connection = readConnection(file);
  const url = required(connection, 'api_url');
  return new Runyard({ url, key: required(connection, 'api_key'), timeoutMs: TIMEOUT_MS });
}
