import type { OwnerDatabase } from './owner-database.adapter';
import { CommandFailed } from './terminal';

const SEQUENCE = /^(\d+)(\.\d+)?$/;

/**
 * A place in a stream as people name it: a sequence, a position (`<sequence>.<index>`: its whole commit), or a time. Of a
 * time it is the last commit that was stored before it, by the archive. Throws CommandFailed.
 */
export async function sequenceAt(db: OwnerDatabase, stream: string, place: string): Promise<number> {
  const [, sequence] = SEQUENCE.exec(place) ?? [];
  if (sequence !== undefined) return Number(sequence);
  const time = Date.parse(place);
  if (Number.isNaN(time))
    throw new CommandFailed(`"${place}" is no sequence, position or time (RFC 3339, like 2026-11-30T09:00Z)`);
  const [row] = await db.read((tx) =>
    tx.query<{ last: string | null }>(
      'SELECT max(sequence) AS last FROM archive.event_log WHERE stream = $1 AND stored_at < to_timestamp($2::float8 / 1000)',
      [stream, time],
    ),
  );
  return Number(row?.last ?? 0);
}
