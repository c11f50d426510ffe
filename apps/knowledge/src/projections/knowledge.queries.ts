import type { FoundPassage, SourcesAnswer } from '@runyard/contracts';
import type { Database, Tx } from '@runyard/persistence';
import { decodeCursor, pageOf, positionReached } from '@runyard/persistence';
import { KNOWLEDGE_PROJECTION } from './documents.projection';

const MAY_READ = 'may_read(d.org_id, d.document_id, d.owner_id, d.everyone, $1)';

/** Waits until the rows reflect a position of AGENTS. False: not within the time. */
export const knowledgeReached = (
  db: Database,
  position: string | number,
  timeoutMs: number,
): Promise<boolean> => positionReached(db, KNOWLEDGE_PROJECTION, position, timeoutMs);

/** A query by someone who minds its operators; otherwise passages with some of the words follow those with all of them. */
const OPERATORS = /["-]|\bOR\b/;

/** Passages that `reader` may read, best first. Undefined: the query holds no word. */
export async function searchPassages(
  tx: Tx,
  reader: string,
  query: string,
  most: number,
): Promise<FoundPassage[] | undefined> {
  const rows = await tx.query<{ language: string }>('SELECT DISTINCT language FROM documents ORDER BY 1');
  const languages = rows.map(({ language }) => language).filter((language) => language !== 'simple');
  const { strict, loose } = await termsOf(tx, query, languages);
  if (!strict) return undefined;
  return tx.query<FoundPassage>(
    `SELECT document_id, title, source, start AS "offset", text FROM search_passages($1::tsquery, $2::tsquery, $3, $4)`,
    [strict, loose || strict, reader, most],
  );
}

/** The query in the words of the index: as they stand and by their stems. Without stems every "the" would count. */
async function termsOf(
  tx: Tx,
  query: string,
  languages: readonly string[],
): Promise<{ strict: string; loose: string }> {
  const all = ['simple', ...languages];
  const each = (call: string) => all.map((_, index) => `${call}($${index + 2}::regconfig, $1)`);
  const some = (languages.length > 0 ? each('plainto_tsquery').slice(1) : each('plainto_tsquery'))
    .map((terms) => `replace(${terms}::text, ''' & ''', ''' | ''')::tsquery`)
    .join(' || ');
  const [terms] = await tx.query<{ strict: string; loose: string }>(
    `SELECT (${each('websearch_to_tsquery').join(' || ')})::text AS strict, (${some})::text AS loose`,
    [query, ...all],
  );
  const { strict = '', loose = '' } = terms ?? {};
  return { strict, loose: OPERATORS.test(query) ? strict : loose };
}

export interface ReadableDocument {
  document_id: string;
  title: string;
  source: string;
  digest: string;
  characters: number;
}

/** A document, if `reader` may read it; one that they may not read is as one that is not there. */
export async function readableDocument(
  tx: Tx,
  reader: string,
  documentId: string,
): Promise<ReadableDocument | undefined> {
  const [row] = await tx.query<ReadableDocument>(
    `SELECT document_id, title, source, digest, characters FROM documents d WHERE document_id = $2 AND ${MAY_READ}`,
    [reader, documentId],
  );
  return row;
}

/** Documents that `reader` may read, by source and title. */
export async function readableSources(
  tx: Tx,
  reader: string,
  page: { limit: number; cursor?: string },
): Promise<SourcesAnswer> {
  const [source, title, id] = decodeCursor(page.cursor, ['text', 'text', 'text']) ?? [null, null, null];
  const rows = await tx.query<Omit<SourcesAnswer['data'][number], 'updated_at'> & { updated_at: Date }>(
    `SELECT document_id, title, source, characters, updated_at FROM documents d
     WHERE ${MAY_READ} AND ($2::text IS NULL OR (source, title, document_id) > ($2, $3, $4))
     ORDER BY source, title, document_id LIMIT $5`,
    [reader, source, title, id, page.limit + 1],
  );
  const shown = rows.map((row) => ({ ...row, updated_at: row.updated_at.toISOString() }));
  return pageOf(shown, page.limit, (row) => [row.source, row.title, row.document_id]);
}
