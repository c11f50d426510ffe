import type { Checkpoint } from './checkpoints';

/** A projector's checkpoint, which runs ahead of what is stored while it passes by what says nothing to its projection. */
export class MovingCheckpoint {
  private storedAt = Number.NEGATIVE_INFINITY;
  /** Everything up to here is applied or passed by; never before the stored checkpoint. */
  position: number;

  constructor(private checkpoint: Checkpoint) {
    this.position = checkpoint.position;
  }

  /** The checkpoint as it is stored; a crash goes on from here. */
  get stored(): Checkpoint {
    return this.checkpoint;
  }

  get isStored(): boolean {
    return this.checkpoint.position === this.position;
  }

  /** Whether nothing was stored for `ms`. */
  isOlderThan(ms: number): boolean {
    return performance.now() - this.storedAt >= ms;
  }

  store(position: number): void {
    this.checkpoint = { ...this.checkpoint, position };
    this.position = position;
    this.storedAt = performance.now();
  }
}
