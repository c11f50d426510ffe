import type { PeopleEvent } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';
import type { RecordedAs } from './commits';

/** Tables of people that hold an org's rows. */
const TABLES = ['api_keys', 'users', 'departed_users', 'organizations'];

/** Keys of people who left stand for nobody; of an org that was erased nothing stays. */
export async function applyErasures(tx: Tx, events: readonly RecordedAs<PeopleEvent>[]): Promise<void> {
  for (const event of events) {
    if (event.type === 'UserDeleted')
      await tx.query('DELETE FROM api_keys WHERE org_id = $1 AND user_id = $2', [
        event.org,
        event.data.userId,
      ]);
    if (event.type === 'OrganizationErased')
      for (const table of TABLES) await tx.query(`DELETE FROM ${table} WHERE org_id = $1`, [event.org]);
  }
}
