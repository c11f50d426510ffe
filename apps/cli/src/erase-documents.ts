import { subjectOf } from '@runyard/contracts';
import type { Installation } from './installation';
import { operatorOf } from './orgs';
import type { Overwriting } from './overwriting';
import { rpcOf } from './service-calls';
import { unlessGone } from './unless-gone';

/** Deletes a person's documents, and takes them out of groups and of the access lists of what others uploaded. */
export async function withdrawFromKnowledge(
  installation: Installation,
  org: string,
  userId: string,
): Promise<void> {
  const call = await rpcOf(installation, operatorOf(org));
  const ask = <Row extends object>(sql: string): Promise<Row[]> =>
    installation.db.read((tx) => tx.query<Row>(sql, [org, userId]));
  for (const { document_id } of await ask<{ document_id: string }>(
    'SELECT document_id FROM knowledge.documents WHERE org_id = $1 AND owner_id::text = $2',
  ))
    await unlessGone(call('knowledge', 'documents.delete', { document_id }));
  for (const { group_id } of await ask<{ group_id: string }>(
    'SELECT group_id FROM knowledge.group_members WHERE org_id = $1 AND user_id::text = $2',
  ))
    await unlessGone(call('knowledge', 'groups.remove_member', { group_id, user_id: userId }));
  for (const access of await ask<object>(READ_BY))
    await unlessGone(call('knowledge', 'documents.share', access));
}

/** Who else reads what the person reads by name. */
const READ_BY = `
  SELECT d.document_id, d.everyone,
    COALESCE(jsonb_agg(r.reader) FILTER (WHERE r.kind = 'user' AND r.reader <> $2), '[]') AS users,
    COALESCE(jsonb_agg(r.reader) FILTER (WHERE r.kind = 'group'), '[]') AS groups
  FROM knowledge.documents d JOIN knowledge.document_readers r USING (org_id, document_id)
  WHERE d.org_id = $1 GROUP BY d.document_id, d.everyone
  HAVING bool_or(r.kind = 'user' AND r.reader = $2)`;

/**
 * Overwrites what a person uploaded, deleted documents too. An id that somebody else has used since keeps that document.
 * Texts go with the blobs that the overwritten events name.
 */
export async function eraseDocuments(
  installation: Installation,
  overwriting: Overwriting,
  org: string,
  userId: string,
  aggregates: readonly string[],
): Promise<void> {
  const { log } = await installation.bus();
  for (const aggregate of aggregates) {
    const subject = subjectOf('knowledge', org, aggregate);
    const uploads = (await log.read(subject)).filter(({ events }) =>
      events.some(({ type }) => type.includes('.DocumentUploaded.')),
    );
    const ofOthers = uploads.find(({ events }) => !JSON.stringify(events).includes(`"ownerId":"${userId}"`));
    if (ofOthers) await overwriting.before('AGENTS', subject, ofOthers.sequence);
    else await overwriting.aggregate('AGENTS', subject, true);
  }
  overwriting.done.documents += aggregates.length;
}
