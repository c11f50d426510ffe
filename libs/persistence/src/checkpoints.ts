import { toSafeInteger } from './integers';
import type { CommitSource, Projection, Tx } from './types';

/** What names a projection's checkpoint. */
export type CheckpointKey = Pick<Projection, 'name' | 'version' | 'stream' | 'checkpointSchema'>;

export interface Checkpoint {
  position: number;
  incarnation: string;
}

export type SourceState = Awaited<ReturnType<CommitSource['state']>>;

/**
 * The checkpoint and the stream contradict each other: events would be skipped, or applied a second time under the same
 * numbers. The projector stops until somebody has restored the stream from the archive (P9.3).
 */
export class CheckpointContradiction extends Error {}

const tableOf = ({ checkpointSchema }: CheckpointKey): string =>
  checkpointSchema ? `${checkpointSchema}.projection_checkpoints` : 'projection_checkpoints';

const keyOf = ({ name, version, stream }: CheckpointKey): [string, number, string] => [name, version, stream];

/** Undefined: the projection has never run. */
export async function readCheckpoint(tx: Tx, key: CheckpointKey): Promise<Checkpoint | undefined> {
  const [row] = await tx.query<{ position: bigint; incarnation: string }>(
    `SELECT position, incarnation FROM ${tableOf(key)} WHERE projection = $1 AND version = $2 AND stream = $3`,
    keyOf(key),
  );
  return row && { position: toSafeInteger(row.position), incarnation: row.incarnation };
}

/** The checkpoint, made at 0 for a projection that has never run. */
export async function openCheckpoint(tx: Tx, key: CheckpointKey, incarnation: string): Promise<Checkpoint> {
  const there = await readCheckpoint(tx, key);
  if (there) return there;
  await tx.query(
    `INSERT INTO ${tableOf(key)} (projection, version, stream, incarnation, position) VALUES ($1, $2, $3, $4, 0)
     ON CONFLICT DO NOTHING`,
    [...keyOf(key), incarnation],
  );
  return (await readCheckpoint(tx, key)) ?? { position: 0, incarnation };
}

/**
 * Moves the checkpoint; false where it is not at `from`, because another projector moved it: the lock was lost with its
 * connection. The row stays locked until the end of the transaction, so a rival waits here and then finds it moved.
 */
export async function moveCheckpoint(
  tx: Tx,
  key: CheckpointKey,
  from: Checkpoint,
  to: number,
): Promise<boolean> {
  const moved = await tx.query(
    `UPDATE ${tableOf(key)} SET position = $4, updated_at = clock_timestamp()
     WHERE projection = $1 AND version = $2 AND stream = $3 AND position = $5 AND incarnation = $6 RETURNING position`,
    [...keyOf(key), to, from.position, from.incarnation],
  );
  return moved.length === 1;
}

/** Throws CheckpointContradiction where the stream was created anew or ends before the checkpoint. */
export function refuseContradiction(key: CheckpointKey, checkpoint: Checkpoint, state: SourceState): void {
  const { name, version, stream } = key;
  if (state.incarnation !== checkpoint.incarnation)
    throw new CheckpointContradiction(
      `${stream} was created anew (now ${state.incarnation}, but ${name}@${version} has read ${checkpoint.incarnation} up to ${checkpoint.position}); restore it from the archive`,
    );
  if (state.lastSequence < checkpoint.position)
    throw new CheckpointContradiction(
      `${name}@${version} is at ${checkpoint.position}, ahead of ${stream}, which ends at ${state.lastSequence}; restore it from the archive`,
    );
}
