import type { Installation } from './installation';

/**
 * The feed of erased agents as a rebuild finds it from now on: of each the last event alone, which says nothing of an owner.
 */
export async function forgetFeed(
  { db }: Installation,
  org: string,
  agents: readonly string[],
): Promise<void> {
  const of = [org, [...agents]];
  await db.write(async (tx) => {
    await tx.query(
      `DELETE FROM approvals.activity_agents a WHERE org_id = $1 AND subject = ANY($2) AND EXISTS (
         SELECT FROM approvals.activity_agents b WHERE b.org_id = a.org_id AND b.subject = a.subject AND b.sequence > a.sequence)`,
      of,
    );
    await tx.query(
      'UPDATE approvals.activity_agents SET owner_id = NULL WHERE org_id = $1 AND subject = ANY($2)',
      of,
    );
  });
}
