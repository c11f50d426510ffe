import { Runyard } from '@runyard/client';
import { readConnection, required } from './config';

/** For a person at a terminal; no command waits for a run within one call. */
const TIMEOUT_MS = 30_000;

/**
 * The HTTP API with the key of the connection, from its file or RUNYARD_API_URL and RUNYARD_API_KEY. Throws CommandFailed
 * where they are not known.
 */
export function apiOf(file: string | undefined): Runyard {
  const connection = readConnection(file);
  const url = required(connection, 'api_url');
  return new Runyard({ url, key: required(connection, 'api_key'), timeoutMs: TIMEOUT_MS });
}
