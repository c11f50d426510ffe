import { Arrivals } from './arrivals';
import { moveCheckpoint, openCheckpoint, refuseContradiction } from './checkpoints';
import type { SourceState } from './checkpoints';
import { concerning } from './concerning';
import { isPassing } from './database.errors';
import { MovingCheckpoint } from './moving-checkpoint';
import {
  eventTypesOf,
  FIRST_PAUSE_MS,
  LockLost,
  messageOf,
  pauseAfter,
  PoisonCommit,
} from './projection-faults';
import { pause, takeProjectionLock } from './projection-lock';
import type { ProjectorPlace } from './projection-lock';
import { readFrom } from './projection-reading';
import { noteProgress, onAwaited } from './position';
import type { ProjectionOptions } from './projection-options';
import type { ProjectedCommit, ProjectorStatus, Tx } from './types';

const LARGEST_BATCH = 1_000;
const MOVED = 'Another projector moved the checkpoint';
/** Commits that say nothing to a projection move its stored checkpoint this much later: for those who wait in another process. */
const PASSED_FOR_MS = 200;
/** A stream created anew while nothing happened is found at the next commit after this time. */
const STATE_AGE_MS = 5_000;
/** A batch that keeps failing as if the database were away may simply take too long: then one by one as well. */
const PASSING_FAILURES = 3;

/**
 * Runs one projection (P8.1). Invariants:
 * 1. The checkpoint moves in the transaction that applies the commits, from exactly where this projector read it.
 * 2. Commits are applied in order, each once; one that cannot be applied is never skipped.
 * 3. The lock is a mere courtesy: two projectors by accident cost rolled back work, never a wrong row (1 holds).
 */
class Projector {
  private checkpoint = new MovingCheckpoint({ position: 0, incarnation: '' });
  private stateReadAt = 0;
  private failures = 0;

  constructor(private readonly options: ProjectionOptions) {}

  async run(): Promise<void> {
    const { signal } = this.options;
    while (!signal.aborted) {
      try {
        await this.holdLock();
        await pause(this.failures ? FIRST_PAUSE_MS : 1, signal);
      } catch (error) {
        await this.recover(error);
      }
    }
    this.tell('stopped');
  }

  private async holdLock(): Promise<void> {
    const { db, projection, signal } = this.options;
    const place = await takeProjectionLock(db, projection, signal, () => this.tell('waiting_for_lock'));
    if (!place) return;
    try {
      await this.project(place);
    } finally {
      await place.close();
    }
  }

  private async project(place: ProjectorPlace): Promise<void> {
    const { db, projection, signal, batchSize = LARGEST_BATCH } = this.options;
    const state = await this.readState();
    this.checkpoint = new MovingCheckpoint(
      await db.acrossOrgs(`open ${projection.name}`, (tx) =>
        openCheckpoint(tx, projection, state.incarnation),
      ),
    );
    refuseContradiction(projection, this.checkpoint.stored, state);
    if (!this.failures) this.tell('running');
    const stop = new AbortController();
    const reading = AbortSignal.any([signal, place.lost, stop.signal]);
    const { gatherMs = 0 } = projection;
    const onHurry = (hurry: () => void) => onAwaited(db, projection, hurry);
    // Half of the time at the source, so that a delivery brings many, and half here, so that a transaction holds many.
    const pace = gatherMs > 0 ? { gatherMs: gatherMs / 2, onHurry } : undefined;
    const arrivals = new Arrivals(
      readFrom(this.options, this.checkpoint.stored, state, reading, pace),
      2 * LARGEST_BATCH,
    );
    const calm = onHurry(() => arrivals.hurry());
    try {
      while (!reading.aborted) {
        const patienceMs = this.checkpoint.isStored ? undefined : PASSED_FOR_MS;
        const batch = await arrivals.take(Math.min(batchSize, LARGEST_BATCH), gatherMs / 2, patienceMs);
        if (!batch || place.lost.aborted) break;
        await this.applyNew(batch);
      }
      if (!this.checkpoint.isStored && !place.lost.aborted) await this.commit([], this.checkpoint.position);
    } finally {
      calm();
      stop.abort();
      await arrivals.settled();
    }
  }

  private async readState(): Promise<SourceState> {
    const state = await this.options.source.state();
    this.stateReadAt = performance.now();
    return state;
  }

  /** Drops what was delivered twice, passes by what does not concern the projection, applies the rest. */
  private async applyNew(commits: readonly ProjectedCommit[]): Promise<void> {
    const { projection } = this.options;
    if (performance.now() - this.stateReadAt > STATE_AGE_MS)
      refuseContradiction(projection, this.checkpoint.stored, await this.readState());
    let last = this.checkpoint.position;
    const fresh = commits.filter(({ sequence }) => sequence > last && (last = sequence));
    const found = concerning(projection, fresh);
    if (found.length === 0) return this.passBy(last);
    try {
      await this.commit(found, last);
    } catch (error) {
      const alone = found.length === 1 || error instanceof LockLost;
      if (alone || (isPassing(error) && this.failures < PASSING_FAILURES)) throw error;
      // One by one: what comes before the bad commit is applied, and the fault names the right one.
      for (const commit of found) await this.commit([commit], commit.sequence);
      await this.passBy(last);
    }
  }

  /** After a crash they are read and passed by again. */
  private async passBy(last: number): Promise<void> {
    const { checkpoint, options } = this;
    if (checkpoint.isOlderThan(PASSED_FOR_MS) && last > checkpoint.stored.position)
      return this.commit([], last);
    checkpoint.position = last;
    noteProgress(options.db, options.projection, last);
    if (!this.failures) this.tell('running');
  }

  private async commit(commits: readonly ProjectedCommit[], last: number): Promise<void> {
    const { db, projection, onBatch } = this.options;
    const started = performance.now();
    await db.acrossOrgs(
      `project ${projection.name}`,
      async (tx) => {
        const moving = moveCheckpoint(tx, projection, this.checkpoint.stored, last);
        // Whoever has lost the lock must not act a second time on what another did.
        if (projection.reacts && !(await moving)) throw new LockLost(MOVED);
        const applying = commits.length > 0 ? this.apply(tx, commits) : Promise.resolve();
        const [moved, applied] = await Promise.allSettled([moving, applying]);
        if (moved.status === 'rejected') throw moved.reason;
        if (!moved.value) throw new LockLost(MOVED);
        if (applied.status === 'rejected') throw applied.reason;
      },
      { synchronousCommit: false, repeated: true },
    );
    this.checkpoint.store(last);
    this.failures = 0;
    noteProgress(db, projection, last);
    onBatch?.({ commits: commits.length, milliseconds: performance.now() - started, position: last });
    this.tell('running');
  }

  private async apply(tx: Tx, commits: readonly ProjectedCommit[]): Promise<void> {
    const { projection } = this.options;
    try {
      await projection.apply(tx, commits);
    } catch (error) {
      const [first, second] = commits;
      if (!first || second || isPassing(error)) throw error;
      throw new PoisonCommit(`${projection.name}@${projection.version}`, first, eventTypesOf(first), error);
    }
  }

  private tell(state: ProjectorStatus['state'], fault: string | null = null): void {
    this.options.onStatus?.({
      projection: this.options.projection.name,
      position: this.checkpoint.position,
      state,
      fault,
    });
  }

  private async recover(error: unknown): Promise<void> {
    const { signal } = this.options;
    if (signal.aborted) return;
    if (error instanceof LockLost) return this.tell('waiting_for_lock');
    this.tell('faulted', messageOf(error));
    await pause(pauseAfter(error, this.failures++), signal);
  }
}

/**
 * Runs a projection until `signal` aborts: waits for its lock, reads from its checkpoint, applies batches, and starts
 * again after a fault, which `onStatus` tells. Resolves when stopped; does not throw.
 */
export function runProjection(options: ProjectionOptions): Promise<void> {
  return new Projector(options).run();
}
