import type { Caller } from '@runyard/contracts';
import { positionReached } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import type { Asker } from '../domain/rights';

/** Who asks: from the credential, never from the request. */
export const askerOf = ({ userId, roles }: Caller): Asker => ({ userId, roles });

/** How long a read waits for the position that its caller has seen; after that it answers with what is there. */
const BRIEFLY_MS = 2_000;

/** Waits until a projection of this service reflects a position. */
export async function reached(db: Database, name: string, atLeast: string | undefined): Promise<void> {
  if (atLeast !== undefined)
    await positionReached(db, { name, version: 1, stream: 'APPROVALS' }, atLeast, BRIEFLY_MS);
}
