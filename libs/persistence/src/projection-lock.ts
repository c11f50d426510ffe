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
 * The connection on which a service's projectors hold their places, open while one of them does. Invariants:
 * 1. A place ends with the connection, whatever happened to its holder (case C81); all who hold one on it hear of that.
 * 2. A session may take its own lock twice, so two projectors of one place in one process are told apart here.
 */
class LockSession {
  private readonly held = new Set<string>();
  private users = 0;
  /** A connection does one query at a time. */
  private turn: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly session: Session,
    private readonly schema: string,
    private readonly gone: () => void,
  ) {
    session.lost.addEventListener('abort', gone, { once: true });
  }

  static async open(db: Database, gone: () => void): Promise<LockSession> {
    const session = await db.dedicated('projection locks');
    try {
      const [place] = await session.query<{ schema: string }>('SELECT current_schema() AS schema');
      return new LockSession(session, place?.schema ?? '', gone);
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  get lost(): AbortSignal {
    return this.session.lost;
  }

  keyOf({ checkpointSchema, ...projection }: Projection): string {
    return projectionLockKey(checkpointSchema || this.schema, projection);
  }

  enter(): void {
    this.users += 1;
  }

  async take(key: string): Promise<boolean> {
    if (this.held.has(key)) return false;
    this.held.add(key);
    try {
      const [row] = await this.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1) AS locked', key);
      if (!row?.locked) this.held.delete(key);
      return row?.locked ?? false;
    } catch (error) {
      this.held.delete(key);
      throw error;
    }
  }

  /** Gives a place back, if one was taken; the last one closes the connection. Never throws. */
  async leave(key: string | undefined): Promise<void> {
    this.users -= 1;
    if (this.users === 0) {
      this.gone();
      return this.session.close();
    }
    if (key === undefined) return;
    await this.query('SELECT pg_advisory_unlock($1)', key).catch(() => undefined);
    this.held.delete(key);
  }

  private query<Row>(sql: string, key: string): Promise<Row[]> {
    const asked = this.turn.then(() => this.session.query<Row>(sql, [key]));
    this.turn = asked.catch(() => undefined);
    return asked;
  }
}

const sessions = new WeakMap<Database, Promise<LockSession>>();

/** The service's lock session, with one user more. */
async function entered(db: Database): Promise<LockSession> {
  const forget = () => void (sessions.get(db) === opening && sessions.delete(db));
  const opening = sessions.get(db) ?? LockSession.open(db, () => forget());
  sessions.set(db, opening);
  try {
    const session = await opening;
    if (sessions.get(db) !== opening) return await entered(db);
    session.enter();
    return session;
  } catch (error) {
    forget();
    throw error;
  }
}

/** A projector's place, held until it is closed or its connection is lost. */
export interface ProjectorPlace {
  readonly lost: AbortSignal;
  close(): Promise<void>;
}

/**
 * Waits for the one place as this projection's projector. Undefined: aborted. `standby` is called when another one has it.
 */
export async function takeProjectionLock(
  db: Database,
  projection: Projection,
  signal: AbortSignal,
  standby: () => void,
): Promise<ProjectorPlace | undefined> {
  const session = await entered(db);
  const key = session.keyOf(projection);
  try {
    while (!signal.aborted) {
      if (await session.take(key)) return { lost: session.lost, close: () => session.leave(key) };
      standby();
      await pause(RETRY_MS, signal);
    }
  } catch (error) {
    await session.leave(undefined);
    throw error;
  }
  await session.leave(undefined);
  return undefined;
}
