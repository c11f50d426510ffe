import { PEOPLE_EVENTS } from '@runyard/contracts';
import type { PeopleEvent } from '@runyard/contracts';
import { eventsOf, records } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import { isUuid } from './commits';
import { ALONE_WITH_DEPARTURES } from './departures';

const ERASE_USERS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (org_id uuid, id uuid, erased_at float8)),
gone AS (DELETE FROM users u USING r WHERE u.org_id = r.org_id AND u.user_id = r.id)
INSERT INTO erased_references (org_id, kind, id, erased_at)
SELECT org_id, 'user', id, to_timestamp(erased_at / 1000) FROM r ON CONFLICT DO NOTHING`;

const ERASE_ORGANIZATIONS = `
WITH r AS (SELECT * FROM json_to_recordset($1::json) AS r (org_id uuid, erased_at float8)),
gone AS (DELETE FROM organizations o USING r WHERE o.org_id = r.org_id)
INSERT INTO erased_references (org_id, kind, id, erased_at)
SELECT org_id, 'organization', org_id, to_timestamp(erased_at / 1000) FROM r ON CONFLICT DO NOTHING`;

/** The tombstone of an org: what its runs still say anywhere is passed over. */
async function eraseOrganizations(tx: Tx, commits: readonly ProjectedCommit[]): Promise<void> {
  const erased = commits.flatMap((commit) =>
    eventsOf<PeopleEvent>(commit, PEOPLE_EVENTS).flatMap(({ event, org }) =>
      event.type === 'OrganizationErased' && isUuid(org) ? [{ org_id: org, erased_at: event.time }] : [],
    ),
  );
  if (erased.length === 0) return;
  await tx.query(ERASE_ORGANIZATIONS, [records(erased)]);
  await tx.query('DELETE FROM retention_settings WHERE org_id = ANY($1)', [
    erased.map(({ org_id }) => org_id),
  ]);
}

/** How long runs are kept; the last word of an org counts. */
async function setRetention(tx: Tx, commits: readonly ProjectedCommit[]): Promise<void> {
  for (const commit of commits)
    for (const { event, org } of eventsOf<PeopleEvent>(commit, PEOPLE_EVENTS))
      if (event.type === 'RetentionSet' && isUuid(org))
        await tx.query(
          `INSERT INTO retention_settings (org_id, run_days) VALUES ($1, $2)
           ON CONFLICT (org_id) DO UPDATE SET run_days = excluded.run_days`,
          [org, event.data.runDays],
        );
}

/**
 * What the deletion of a person does to runs: they stay, with `user_id` cleared (domain, section 1). The tombstone keeps
 * older runs from naming the person again, whichever of the two streams is read first.
 */
export const runPeopleProjection: Projection = {
  name: 'run-people',
  version: 1,
  stream: 'PEOPLE',
  apply: async (tx, commits) => {
    await setRetention(tx, commits);
    await eraseOrganizations(tx, commits);
    const erased = commits.flatMap((commit) =>
      eventsOf<PeopleEvent>(commit, PEOPLE_EVENTS).flatMap(({ event, org }) =>
        event.type === 'UserDeleted' && isUuid(event.data.userId)
          ? [{ org_id: org, id: event.data.userId, erased_at: event.time }]
          : [],
      ),
    );
    if (erased.length === 0) return;
    await tx.query(ALONE_WITH_DEPARTURES);
    await tx.query(ERASE_USERS, [records(erased)]);
  },
};
