import { CURRENT_ORG, enableTenantPolicies, roleOf, schemaOf } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'knowledge';

/**
 * Documents, who may read them, and their passages. `search_passages` runs as the owner of the tables: row-level security
 * evaluates its own condition before an operator that is not leakproof, so that no index on words could be used under it.
 * The function therefore states the org itself, from the same setting as the policies, and takes none from its caller.
 */
export const CREATE_DOCUMENTS: Migration = {
  name: 'CreateDocuments',
  timestamp: 1_764_460_800_201,
  up: `
    CREATE TABLE documents (
      org_id uuid NOT NULL,
      document_id text NOT NULL,
      owner_id uuid,
      title text NOT NULL,
      source text NOT NULL,
      language text NOT NULL,
      digest text NOT NULL,
      bytes int NOT NULL,
      characters int NOT NULL,
      everyone boolean NOT NULL,
      generation int NOT NULL CHECK (generation > 0),
      revision int NOT NULL CHECK (revision > 0),
      created_at timestamptz NOT NULL,
      updated_at timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, document_id)
    );
    COMMENT ON TABLE documents IS 'What agents may look up. Projection of AGENTS';
    COMMENT ON COLUMN documents.owner_id IS 'Who uploaded it and always reads it; NULL: an application did';
    COMMENT ON COLUMN documents.digest IS 'Its text in archive.blobs';
    COMMENT ON COLUMN documents.everyone IS 'Whether everybody of the org may read it';
    COMMENT ON COLUMN documents.generation IS 'The how-manieth document of this id';
    COMMENT ON COLUMN documents.revision IS 'Events since it was uploaded; with the generation it is the ETag';
    CREATE INDEX documents_by_title ON documents (org_id, title, document_id);
    ${enableTenantPolicies(SERVICE, 'documents', { tenantMay: 'SELECT' })}

    CREATE TABLE document_readers (
      org_id uuid NOT NULL,
      document_id text NOT NULL,
      kind text NOT NULL CHECK (kind IN ('user', 'group')),
      reader text NOT NULL,
      PRIMARY KEY (org_id, document_id, kind, reader),
      FOREIGN KEY (org_id, document_id) REFERENCES documents ON DELETE CASCADE
    );
    COMMENT ON TABLE document_readers IS 'Access lists. A group that is not there grants nothing. Projection of AGENTS';
    ${enableTenantPolicies(SERVICE, 'document_readers', { tenantMay: 'SELECT' })}

    CREATE TABLE reader_groups (
      org_id uuid NOT NULL,
      group_id text NOT NULL,
      name text NOT NULL,
      created_at timestamptz NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, group_id)
    );
    COMMENT ON TABLE reader_groups IS 'Groups that documents are shared with. Projection of AGENTS';
    ${enableTenantPolicies(SERVICE, 'reader_groups', { tenantMay: 'SELECT' })}

    CREATE TABLE group_members (
      org_id uuid NOT NULL,
      group_id text NOT NULL,
      user_id uuid NOT NULL,
      PRIMARY KEY (org_id, group_id, user_id),
      FOREIGN KEY (org_id, group_id) REFERENCES reader_groups ON DELETE CASCADE
    );
    COMMENT ON TABLE group_members IS 'Projection of AGENTS';
    CREATE INDEX group_members_by_user ON group_members (org_id, user_id);
    ${enableTenantPolicies(SERVICE, 'group_members', { tenantMay: 'SELECT' })}

    CREATE TABLE passages (
      org_id uuid NOT NULL,
      document_id text NOT NULL,
      number int NOT NULL,
      start int NOT NULL,
      text text NOT NULL,
      search tsvector NOT NULL,
      PRIMARY KEY (org_id, document_id, number),
      FOREIGN KEY (org_id, document_id) REFERENCES documents ON DELETE CASCADE
    );
    COMMENT ON TABLE passages IS 'Documents in parts, as they are searched. Projection of AGENTS and the blobs that it names';
    COMMENT ON COLUMN passages.search IS 'Words as they stand, their stems, and the org as a word of its own';
    CREATE INDEX passages_search ON passages USING gin (search);
    ${enableTenantPolicies(SERVICE, 'passages', { tenantMay: 'SELECT' })}

    CREATE FUNCTION may_read(org uuid, document text, owner uuid, everyone boolean, reader uuid) RETURNS boolean
    LANGUAGE sql STABLE AS $$
      SELECT everyone OR COALESCE(owner = reader, false) OR EXISTS (
        SELECT FROM document_readers r
        LEFT JOIN group_members m ON r.kind = 'group' AND m.org_id = r.org_id AND m.group_id = r.reader AND m.user_id = may_read.reader
        WHERE r.org_id = org AND r.document_id = document
          AND (m.user_id IS NOT NULL OR (r.kind = 'user' AND r.reader = may_read.reader::text)))
    $$;
    COMMENT ON FUNCTION may_read IS 'The one rule of who reads what: everybody, the owner, a named person, a member of a named group';

    CREATE FUNCTION search_passages(strict tsquery, loose tsquery, reader uuid, most int)
    RETURNS TABLE (document_id text, title text, source text, start int, text text)
    LANGUAGE sql STABLE SECURITY DEFINER SET search_path = ${schemaOf(SERVICE)}, pg_temp AS $$
      SELECT p.document_id, d.title, d.source, p.start, p.text
      FROM passages p JOIN documents d USING (org_id, document_id)
      WHERE p.org_id = ${CURRENT_ORG}
        AND p.search @@ (('''org:' || ${CURRENT_ORG} || '''')::tsquery && loose)
        AND may_read(d.org_id, d.document_id, d.owner_id, d.everyone, search_passages.reader)
      ORDER BY p.search @@ strict DESC, ts_rank_cd(p.search, loose, 1) DESC, p.document_id, p.number
      LIMIT most
    $$;
    COMMENT ON FUNCTION search_passages IS 'Passages of the current org that a person may read, best first';
    REVOKE ALL ON FUNCTION search_passages FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION search_passages TO ${roleOf(SERVICE)};`,
};
