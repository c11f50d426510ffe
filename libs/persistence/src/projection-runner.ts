import { archiveSource } from './archive-source';
import { ARCHIVE } from './archive.projection';
import { Arrivals } from './arrivals';
import { moveCheckpoint, openCheckpoint, refuseContradiction } from './checkpoints';
import type { Checkpoint, SourceState } from './checkpoints';
import { isPassing } from './database.errors';
import { eventTypesOf, LockLost, messageOf, PoisonCommit } from './projection-faults';
import { pause, takeProjectionLock } from './projection-lock';
import { noteProgress, onAwaited } from './position';
import type { ProjectionOptions } from './projection-options';
import type { ProjectedCommit, ProjectorStatus, ReadingPace, Session, Tx } from './types';
import { batchesOf, gapBefore, readWhole } from './whole-source';

const LARGEST_BATCH = 1_000;
/** A fault is tried again after this, doubled each time: restored streams and repaired rows heal it without a restart. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 30_000;
/** A database or log that is away comes back at any moment: never wait long for it. */
const LONGEST_PASSING_PAUSE_MS = 2_000;
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
  private checkpoint: Checkpoint = { position: 0, incarnation: '' };
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
    const session = await takeProjectionLock(db, projection, signal, () => this.tell('waiting_for_lock'));
    if (!session) return;
    try {
      await this.project(session);
    } finally {
      await session.close();
    }
  }

  private async project(session: Session): Promise<void> {
    const { db, projection, signal, batchSize = LARGEST_BATCH } = this.options;
    const state = await this.readState();
    this.checkpoint = await db.acrossOrgs(`open ${projection.name}`, (tx) =>
      openCheckpoint(tx, projection, state.incarnation),
    );
    refuseContradiction(projection, this.checkpoint, state);
    if (!this.failures) this.tell('running');
    const stop = new AbortController();
    const reading = AbortSignal.any([signal, session.lost, stop.signal]);
    const { gatherMs = 0 } = projection;
    const onHurry = (hurry: () => void) => onAwaited(db, projection, hurry);
    // Half of the time at the source, so that a delivery brings many, and half here, so that a transaction holds many.
    const pace = gatherMs > 0 ? { gatherMs: gatherMs / 2, onHurry } : undefined;
    const arrivals = new Arrivals(this.read(state, reading, pace), 2 * LARGEST_BATCH);
    const calm = onHurry(() => arrivals.hurry());
    try {
      while (!reading.aborted) {
        const batch = await arrivals.take(Math.min(batchSize, LARGEST_BATCH), gatherMs / 2);
        if (!batch || session.lost.aborted) return;
        await this.applyNew(batch);
      }
    } finally {
      calm();
      stop.abort();
      await arrivals.settled();
    }
  }

  private read(
    state: SourceState,
    signal: AbortSignal,
    pace?: ReadingPace,
  ): AsyncIterable<readonly ProjectedCommit[]> {
    const { db, source, projection, history, onAlarm } = this.options;
    const gap = gapBefore(state, this.checkpoint);
    if (projection.checkpointSchema !== ARCHIVE || history) {
      return readWhole(
        source,
        history ?? archiveSource(db, projection.stream, projection.filter),
        this.checkpoint,
        state,
        signal,
        pace,
      );
    }
    // Nobody holds what the archive itself has missed, and to stop would only let it miss more.
    if (gap)
      onAlarm?.(
        `${projection.stream} dropped ${gap.from} to ${gap.to} before they were archived (or they were erased)`,
      );
    return batchesOf(source, this.checkpoint.position, signal, { pace });
  }

  private async readState(): Promise<SourceState> {
    const state = await this.options.source.state();
    this.stateReadAt = performance.now();
    return state;
  }

  /** Drops what was delivered twice, applies the rest. */
  private async applyNew(commits: readonly ProjectedCommit[]): Promise<void> {
    const { projection } = this.options;
    if (performance.now() - this.stateReadAt > STATE_AGE_MS)
      refuseContradiction(projection, this.checkpoint, await this.readState());
    let last = this.checkpoint.position;
    const fresh = commits.filter(({ sequence }) => sequence > last && (last = sequence));
    if (fresh.length === 0) return;
    try {
      await this.commit(fresh);
    } catch (error) {
      const alone = fresh.length === 1 || error instanceof LockLost;
      if (alone || (isPassing(error) && this.failures < PASSING_FAILURES)) throw error;
      // One by one: what comes before the bad commit is applied, and the fault names the right one.
      for (const commit of fresh) await this.commit([commit]);
    }
  }

  private async commit(commits: readonly ProjectedCommit[]): Promise<void> {
    const { db, projection, onBatch } = this.options;
    const started = performance.now();
    const last = commits.at(-1)?.sequence ?? this.checkpoint.position;
    await db.acrossOrgs(
      `project ${projection.name}`,
      async (tx) => {
        if (!(await moveCheckpoint(tx, projection, this.checkpoint, last)))
          throw new LockLost('Another projector moved the checkpoint');
        await this.apply(tx, commits);
      },
      { synchronousCommit: false },
    );
    this.checkpoint = { ...this.checkpoint, position: last };
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
    const longest = error instanceof PoisonCommit ? LONGEST_PAUSE_MS : LONGEST_PASSING_PAUSE_MS;
    await pause(Math.min(FIRST_PAUSE_MS * 2 ** this.failures++, longest), signal);
  }
}

/**
 * Runs a projection until `signal` aborts: waits for its lock, reads from its checkpoint, applies batches, and starts
 * again after a fault, which `onStatus` tells. Resolves when stopped; does not throw.
 */
export function runProjection(options: ProjectionOptions): Promise<void> {
  return new Projector(options).run();
}
