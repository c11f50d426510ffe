import { setTimeout as wait } from 'node:timers/promises';
import { lockKey } from './lock-key';
import type { Database, Projection, Session } from './types';

/** How soon an instance that stands by takes over; each try costs one round trip on a connection that is open anyway. */
const RETRY_MS = 250;

/** Key of the advisory lock of a projection's one runner. The schema is part of it: services share one database, and advisory locks have no schema. */
export const projectionLockKey = (
  schema: string,
  { name, version, stream }: Pick<Projection, 'name' | 'version' | 'stream'>,
): string => lockKey('projection', schema, name, String(version), stream);

export const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  wait(milliseconds, undefined, { signal }).catch(() => undefined);

/**
 * Waits for the one place as this projection's projector, on a connection of its own: the lock ends with the connection,
 * whatever happened to its holder (case C81). Undefined: aborted. `standby` is called when another instance has it.
 */
export async function takeProjectionLock(
  db: Database,
  { name, version, stream, checkpointSchema = '' }: Projection,
  signal: AbortSignal,
  standby: () => void,
): Promise<Session | undefined> {
  const session = await db.dedicated(`lock ${name}`);
  try {
    const [place] = await session.query<{ schema: string }>('SELECT current_schema() AS schema');
    const key = projectionLockKey(checkpointSchema || (place?.schema ?? ''), { name, version, stream });
    while (!signal.aborted) {
      const [row] = await session.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', [
        key,
      ]);
      if (row?.locked) return session;
      standby();
      await pause(RETRY_MS, signal);
    }
  } catch (error) {
    await session.close();
    throw error;
  }
  await session.close();
  return undefined;
}
