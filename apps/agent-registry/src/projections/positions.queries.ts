import { positionReached } from '@runyard/persistence';
import type { Database, Projection, Tx } from '@runyard/persistence';
import { CATALOGUE_PROJECTION } from './catalogue.projection';
import { PEOPLE_PROJECTION } from './people.projection';

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 2_000;

/** Waits until rows of agents, models and tools reflect a position. */
export async function catalogueReached(db: Database, position: string | undefined): Promise<void> {
  if (position !== undefined) await positionReached(db, CATALOGUE_PROJECTION, position, BRIEFLY_MS);
}

/** Waits until rows of organizations, users and keys reflect a position. */
export async function peopleReached(db: Database, position: string | undefined): Promise<void> {
  if (position !== undefined) await positionReached(db, PEOPLE_PROJECTION, position, BRIEFLY_MS);
}

/** For reactions, inside their transaction: how far the rows of agents, models and tools have come. */
export async function cataloguePosition(tx: Tx): Promise<number> {
  const { name, version, stream }: Projection = CATALOGUE_PROJECTION;
  const [row] = await tx.query<{ position: bigint }>(
    'SELECT position FROM projection_checkpoints WHERE projection = $1 AND version = $2 AND stream = $3',
    [name, version, stream],
  );
  return Number(row?.position ?? 0);
}
