import type { Tx } from '@runyard/persistence';
import { storedCheckpoints } from './checkpoints';
import type { StoredCheckpoint } from './checkpoints';
import { PROJECTIONS } from './projections';

const isProjection = (one: StoredCheckpoint): boolean =>
  PROJECTIONS.some(({ projection, schema }) => projection.name === one.projection && schema === one.schema);

/**
 * Takes checkpoints over into a stream's new incarnation. A reaction that was ahead has done what it did and reads on from
 * the end; a projection that was ahead holds rows of events that are lost, and stays behind until it is made anew.
 */
export async function carryOver(
  tx: Tx,
  stream: string,
  incarnation: string,
  lastSequence: number,
): Promise<{ carried: number; ahead: StoredCheckpoint[] }> {
  const readers = (await storedCheckpoints(tx)).filter((one) => one.stream === stream);
  const ahead = readers.filter((one) => one.position > lastSequence && isProjection(one));
  const carried = readers.filter((one) => !ahead.includes(one));
  for (const { schema, projection, version } of carried)
    await tx.query(
      `UPDATE "${schema}".projection_checkpoints
       SET incarnation = $4, position = least(position, $5), updated_at = clock_timestamp()
       WHERE projection = $1 AND version = $2 AND stream = $3`,
      [projection, version, stream, incarnation, lastSequence],
    );
  return { carried: carried.length, ahead };
}
