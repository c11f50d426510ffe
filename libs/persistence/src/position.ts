import { readCheckpoint } from './checkpoints';
import type { CheckpointKey } from './checkpoints';
import type { Database } from './types';

/** First pause between two looks at a checkpoint that another process moves; doubled up to the longest. */
const FIRST_LOOK_MS = 2;
const LONGEST_LOOK_MS = 40;

interface Waiter {
  sequence: number;
  reached: () => void;
}

/** What this process knows of one projection on one database; looks are shared by all who wait. */
class Progress {
  known = 0;
  /** Told that somebody waits, so that they do not let him wait for more commits than his own. */
  readonly awaited = new Set<() => void>();
  private waiters: Waiter[] = [];
  private looking = false;

  note(position: number): void {
    this.known = position;
    const reached = this.waiters.filter(({ sequence }) => sequence <= position);
    this.waiters = this.waiters.filter(({ sequence }) => sequence > position);
    for (const waiter of reached) waiter.reached();
    if (this.waiters.length > 0) this.awaited.forEach((tell) => tell());
  }

  reach(sequence: number, timeoutMs: number, look: () => Promise<number>): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { sequence, reached: () => (clearTimeout(timer), resolve(true)) };
      const forget = () => (this.waiters = this.waiters.filter((other) => other !== waiter));
      const timer = setTimeout(() => (forget(), resolve(false)), timeoutMs);
      this.waiters.push(waiter);
      this.awaited.forEach((tell) => tell());
      if (this.looking) return;
      this.looking = true;
      // Who comes later starts looking himself if this fails; he who is waiting hears why.
      this.keepLooking(look)
        .catch((error: unknown) => (clearTimeout(timer), forget(), reject(error)))
        .finally(() => (this.looking = false));
    });
  }

  private async keepLooking(look: () => Promise<number>): Promise<void> {
    for (let ms = FIRST_LOOK_MS; this.waiters.length > 0; ms = Math.min(ms * 2, LONGEST_LOOK_MS)) {
      this.note(Math.max(await look(), this.known));
      if (this.waiters.length > 0) await new Promise((resolve) => setTimeout(resolve, ms));
    }
  }
}

const progress = new WeakMap<Database, Map<string, Progress>>();

function progressOf(db: Database, { name, version, stream }: CheckpointKey): Progress {
  const ofDatabase = progress.get(db) ?? new Map<string, Progress>();
  progress.set(db, ofDatabase);
  const key = JSON.stringify([name, version, stream]);
  const one = ofDatabase.get(key) ?? new Progress();
  ofDatabase.set(key, one);
  return one;
}

/** The projector of this process has committed up to `position`: those who wait need not look. */
export function noteProgress(db: Database, key: CheckpointKey, position: number): void {
  progressOf(db, key).note(position);
}

/** Calls back whenever somebody in this process starts to wait for a position of a projection; returns an unsubscriber. */
export function onAwaited(db: Database, key: CheckpointKey, tell: () => void): () => void {
  const { awaited } = progressOf(db, key);
  awaited.add(tell);
  return () => void awaited.delete(tell);
}

/** Stream sequence of a position (`<sequence>.<index>`) or a bare sequence. Throws RangeError. */
export function sequenceOf(position: string | number | bigint): number {
  const match = /^(\d+)(\.\d+)?$/.exec(String(position));
  const sequence = Number(match?.[1]);
  if (!match || !Number.isSafeInteger(sequence)) throw new RangeError(`"${position}" is no position`);
  return sequence;
}

/**
 * Waits until a projection has applied a position of its own stream, so that a reader sees what he has just written.
 * False: not within `timeoutMs`; the caller answers with what is there. Throws `unavailable` like any query.
 */
export async function positionReached(
  db: Database,
  projection: CheckpointKey,
  position: string | number | bigint,
  timeoutMs: number,
): Promise<boolean> {
  const sequence = sequenceOf(position);
  const current = progressOf(db, projection);
  if (current.known >= sequence) return true;
  const look = async () =>
    (await db.acrossOrgs('read a checkpoint', (tx) => readCheckpoint(tx, projection)))?.position ?? 0;
  return current.reach(sequence, timeoutMs, look);
}
