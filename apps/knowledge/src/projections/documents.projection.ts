import { KNOWLEDGE_EVENTS, parseSubject } from '@runyard/contracts';
import type { DocumentAccess, DocumentBody, DocumentEvent, KnowledgeEvent } from '@runyard/contracts';
import { eventsOf } from '@runyard/persistence';
import type { Projection, ProjectedEvent, Tx } from '@runyard/persistence';
import { applyGroup, isGroupEvent } from './groups';
import type { Happened } from './happened';
import { passagesOf } from './passages';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Documents, their readers and passages, and groups, from the whole stream AGENTS: few events among many. */
export const KNOWLEDGE_PROJECTION: Projection = {
  name: 'knowledge',
  version: 1,
  stream: 'AGENTS',
  async apply(tx, commits) {
    for (const commit of commits) {
      const place = parseSubject(commit.subject);
      if (place?.context !== 'knowledge' || !UUID.test(place.org)) continue;
      for (const projected of eventsOf<KnowledgeEvent>(commit, KNOWLEDGE_EVENTS))
        await apply(tx, happened(projected));
    }
  },
};

function happened({
  event,
  org,
  aggregate,
  sequence,
  index,
}: ProjectedEvent<KnowledgeEvent>): Happened<KnowledgeEvent> {
  const id = aggregate.replace(/^(doc|group)-/, '');
  return { org, id, event, time: new Date(event.time).toISOString(), position: `${sequence}.${index}` };
}

function apply(tx: Tx, at: Happened<KnowledgeEvent>): Promise<void> {
  const { event } = at;
  return isGroupEvent(event) ? applyGroup(tx, { ...at, event }) : applyDocument(tx, { ...at, event });
}

async function applyDocument(tx: Tx, at: Happened<DocumentEvent>): Promise<void> {
  const { org, id, event, position } = at;
  switch (event.type) {
    case 'DocumentUploaded': {
      const { ownerId, generation, access, ...body } = event.data;
      await insert(tx, at, { ownerId, generation }, body, access);
      await setReaders(tx, org, id, access);
      return setPassages(tx, org, id, body);
    }
    case 'DocumentRevised':
      await revise(tx, at, event.data);
      return setPassages(tx, org, id, event.data);
    case 'DocumentShared': {
      const { access } = event.data;
      await tx.query(
        'UPDATE documents SET everyone = $3, revision = revision + 1, position = $4 WHERE org_id = $1 AND document_id = $2',
        [org, id, access.everyone, position],
      );
      return setReaders(tx, org, id, access);
    }
    case 'DocumentDeleted':
      await tx.query('DELETE FROM documents WHERE org_id = $1 AND document_id = $2', [org, id]);
      return;
    default:
      return event satisfies never;
  }
}

async function insert(
  tx: Tx,
  { org, id, time, position }: Happened<DocumentEvent>,
  { ownerId, generation }: { ownerId: string | null; generation: number },
  { title, source, language, content }: DocumentBody,
  { everyone }: DocumentAccess,
): Promise<void> {
  const { digest, bytes, characters } = content;
  await tx.query(
    `INSERT INTO documents (org_id, document_id, owner_id, title, source, language, digest, bytes, characters, everyone,
       generation, revision, created_at, updated_at, position)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 1, $12, $12, $13)`,
    [
      org,
      id,
      ownerId,
      title,
      source,
      language,
      digest,
      bytes,
      characters,
      everyone,
      generation,
      time,
      position,
    ],
  );
}

async function revise(
  tx: Tx,
  { org, id, time, position }: Happened<DocumentEvent>,
  { title, source, language, content }: DocumentBody,
): Promise<void> {
  const { digest, bytes, characters } = content;
  await tx.query(
    `UPDATE documents SET title = $3, source = $4, language = $5, digest = $6, bytes = $7, characters = $8, updated_at = $9,
       revision = revision + 1, position = $10 WHERE org_id = $1 AND document_id = $2`,
    [org, id, title, source, language, digest, bytes, characters, time, position],
  );
}

async function setReaders(tx: Tx, org: string, id: string, { users, groups }: DocumentAccess): Promise<void> {
  await tx.query('DELETE FROM document_readers WHERE org_id = $1 AND document_id = $2', [org, id]);
  await tx.query(
    `INSERT INTO document_readers (org_id, document_id, kind, reader)
     SELECT $1, $2, kind, reader FROM unnest($3::text[], $4::text[]) AS r (kind, reader)`,
    [org, id, [...users.map(() => 'user'), ...groups.map(() => 'group')], [...users, ...groups]],
  );
}

/** The title is searched with the first passage. A text that was erased from the blobs leaves none. */
async function setPassages(
  tx: Tx,
  org: string,
  id: string,
  { title, language, content }: DocumentBody,
): Promise<void> {
  await tx.query('DELETE FROM passages WHERE org_id = $1 AND document_id = $2', [org, id]);
  const [blob] = await tx.query<{ body: string }>(
    'SELECT body FROM archive.blobs WHERE org_id = $1 AND digest = $2',
    [org, content.digest],
  );
  const passages = passagesOf(blob?.body ?? '');
  await tx.query(
    `INSERT INTO passages (org_id, document_id, number, start, text, search)
     SELECT $1::uuid, $2, number, start, text,
       array_to_tsvector(ARRAY['org:' || $1::uuid::text]) || to_tsvector('simple', text) || to_tsvector($3::regconfig, text)
       || CASE WHEN number = 0 THEN setweight(to_tsvector('simple', $4) || to_tsvector($3::regconfig, $4), 'A') ELSE '' END
     FROM unnest($5::int[], $6::int[], $7::text[]) AS p (number, start, text)`,
    [
      org,
      id,
      language,
      title,
      passages.map(({ number }) => number),
      passages.map(({ start }) => start),
      passages.map(({ text }) => text),
    ],
  );
}
