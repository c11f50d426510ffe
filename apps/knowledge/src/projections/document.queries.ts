import type { DocumentRow, GroupRow } from '@runyard/contracts';
import type { Page, Tx } from '@runyard/persistence';
import { decodeCursor, pageOf } from '@runyard/persistence';

interface DocumentRead extends Omit<DocumentRow, 'access' | 'etag' | 'created_at' | 'updated_at'> {
  digest: string;
  everyone: boolean;
  users: string[];
  groups: string[];
  generation: number;
  revision: number;
  created_at: Date;
  updated_at: Date;
}

const READERS = (kind: string) =>
  `ARRAY(SELECT r.reader FROM document_readers r WHERE r.org_id = d.org_id AND r.document_id = d.document_id AND r.kind = '${kind}' ORDER BY 1)`;
const DOCUMENT = `SELECT d.*, ${READERS('user')} AS users, ${READERS('group')} AS groups FROM documents d`;
/** `$1` null: sees all. */
const VISIBLE = '($1::uuid IS NULL OR may_read(d.org_id, d.document_id, d.owner_id, d.everyone, $1))';

/** A document with the digest of its text; `reader` null: of those that see all. */
export async function findDocument(
  tx: Tx,
  reader: string | null,
  documentId: string,
): Promise<{ row: DocumentRow; digest: string } | undefined> {
  const [row] = await tx.query<DocumentRead>(`${DOCUMENT} WHERE ${VISIBLE} AND d.document_id = $2`, [
    reader,
    documentId,
  ]);
  return row && { row: documentRow(row), digest: row.digest };
}

export interface DocumentFilter {
  limit: number;
  cursor?: string;
  source?: string;
  search?: string;
}

/** Documents by title, then id. */
export async function listDocuments(
  tx: Tx,
  reader: string | null,
  filter: DocumentFilter,
): Promise<Page<DocumentRow>> {
  const [title, id] = decodeCursor(filter.cursor, ['text', 'text']) ?? [null, null];
  const rows = await tx.query<DocumentRead>(
    `${DOCUMENT} WHERE ${VISIBLE} AND ($2::text IS NULL OR d.source = $2)
       AND ($3::text IS NULL OR d.title ILIKE $3 OR d.document_id ILIKE $3)
       AND ($4::text IS NULL OR (d.title, d.document_id) > ($4, $5))
     ORDER BY d.title, d.document_id LIMIT $6`,
    [
      reader,
      filter.source ?? null,
      filter.search === undefined ? null : `%${filter.search.replaceAll(/[\\%_]/g, '\\$&')}%`,
      title,
      id,
      filter.limit + 1,
    ],
  );
  return pageOf(rows.map(documentRow), filter.limit, (row) => [row.title, row.document_id]);
}

function documentRow(read: DocumentRead): DocumentRow {
  const { document_id, owner_id, title, source, language, bytes, characters, position } = read;
  const { everyone, users, groups } = read;
  const said = { document_id, owner_id, title, source, language, bytes, characters };
  return {
    ...said,
    access: { everyone, users, groups },
    created_at: read.created_at.toISOString(),
    updated_at: read.updated_at.toISOString(),
    etag: `${read.generation}.${read.revision}`,
    position,
  };
}

type GroupRead = Omit<GroupRow, 'created_at'> & { created_at: Date };

const GROUP = `
  SELECT g.group_id, g.name, g.created_at, g.position,
    (SELECT count(*)::int FROM group_members m WHERE m.org_id = g.org_id AND m.group_id = g.group_id) AS members
  FROM reader_groups g`;

const groupRow = (row: GroupRead): GroupRow => ({ ...row, created_at: row.created_at.toISOString() });

/** A group with the ids of its members. */
export async function findGroup(
  tx: Tx,
  groupId: string,
): Promise<(GroupRow & { users: string[] }) | undefined> {
  const [row] = await tx.query<GroupRead>(`${GROUP} WHERE g.group_id = $1`, [groupId]);
  if (!row) return undefined;
  const members = await tx.query<{ user_id: string }>(
    'SELECT user_id FROM group_members WHERE group_id = $1 ORDER BY 1',
    [groupId],
  );
  return { ...groupRow(row), users: members.map(({ user_id }) => user_id) };
}

/** Groups by id; `member` undefined: all of them. */
export async function listGroups(
  tx: Tx,
  filter: { limit: number; cursor?: string; member?: string },
): Promise<Page<GroupRow>> {
  const [after] = decodeCursor(filter.cursor, ['text']) ?? [null];
  const rows = await tx.query<GroupRead>(
    `${GROUP} WHERE ($1::text IS NULL OR g.group_id > $1) AND ($2::uuid IS NULL OR EXISTS (
       SELECT FROM group_members m WHERE m.org_id = g.org_id AND m.group_id = g.group_id AND m.user_id = $2))
     ORDER BY g.group_id LIMIT $3`,
    [after, filter.member ?? null, filter.limit + 1],
  );
  return pageOf(rows.map(groupRow), filter.limit, (row) => [row.group_id]);
}
