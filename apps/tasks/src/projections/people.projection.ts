import { PEOPLE_EVENTS } from '@runyard/contracts';
import type { PeopleEvent } from '@runyard/contracts';
import { eventsOf, isOrg, mayHold } from '@runyard/persistence';
import type { Projection } from '@runyard/persistence';

const CONCERNING = ['UserAdded', 'UserDeleted', 'OrganizationErased'];

/** Who was deleted: their tasks are to be nobody's. The watch sees to it, whichever of the two streams is read first. */
export const TASK_PEOPLE: Projection = {
  name: 'tasks-people',
  version: 1,
  stream: 'PEOPLE',
  concerns: (commit) => mayHold(commit, CONCERNING),
  async apply(tx, commits) {
    for (const { event, org } of commits.flatMap((commit) => eventsOf<PeopleEvent>(commit, PEOPLE_EVENTS))) {
      if (!isOrg(org)) continue;
      if (event.type === 'UserDeleted')
        await tx.query(
          'INSERT INTO departed_owners (org_id, user_id) VALUES ($1, $2) ON CONFLICT DO NOTHING',
          [org, event.data.userId],
        );
      else if (event.type === 'UserAdded')
        await tx.query('DELETE FROM departed_owners WHERE org_id = $1 AND user_id = $2', [
          org,
          event.data.userId,
        ]);
      else if (event.type === 'OrganizationErased')
        await tx.query('DELETE FROM departed_owners WHERE org_id = $1', [org]);
    }
  },
};
