import type { Migration } from '@runyard/persistence';

/**
 * What the rows of runs refer to. Organizations and users belong to a neighbour; here they are stubs that hold nothing
 * but their ids, made when a run first names them (P8.4). A tombstone keeps what was deleted from coming back when an
 * older event is read again or a rebuild starts from the beginning.
 */
export const references: Migration = {
  name: 'CreateReferences',
  timestamp: 1_764_460_000_000,
  up: `
CREATE TABLE organizations (
  org_id uuid PRIMARY KEY
);
COMMENT ON TABLE organizations IS 'Stubs of the organizations that runs belong to; deleting one deletes its rows.';

CREATE TABLE users (
  org_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  user_id uuid NOT NULL,
  PRIMARY KEY (org_id, user_id)
);
COMMENT ON TABLE users IS 'Stubs of the users on whose behalf runs ran; deleting one clears user_id and keeps the runs.';

CREATE TABLE erased_references (
  org_id uuid NOT NULL,
  kind text NOT NULL CHECK (kind IN ('organization', 'user')),
  id uuid NOT NULL,
  erased_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, kind, id)
);
COMMENT ON TABLE erased_references IS 'Users and organizations that were deleted: what the log says of them resolves to nothing, also in a rebuild.';

CREATE TABLE deleted_conversations (
  org_id uuid NOT NULL,
  conversation_id text NOT NULL,
  sequence bigint NOT NULL,
  deleted_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, conversation_id)
);
COMMENT ON TABLE deleted_conversations IS 'Tombstones of deleted conversations, without content.';
COMMENT ON COLUMN deleted_conversations.sequence IS 'Stream sequence of the deletion; what the log says of the conversation up to there has no effect.';

CREATE TABLE conversations (
  org_id uuid NOT NULL REFERENCES organizations ON DELETE CASCADE,
  conversation_id text NOT NULL,
  user_id uuid,
  title text NOT NULL DEFAULT '',
  created_at timestamptz NOT NULL,
  PRIMARY KEY (org_id, conversation_id),
  FOREIGN KEY (org_id, user_id) REFERENCES users ON DELETE SET NULL (user_id)
);
CREATE INDEX conversations_list ON conversations (org_id, created_at DESC, conversation_id DESC);
CREATE INDEX conversations_of_user ON conversations (org_id, user_id);
COMMENT ON TABLE conversations IS 'Dialogs: each run in one is a turn. Made by API or by the first run that names it; deleting one deletes its runs.';
COMMENT ON COLUMN conversations.user_id IS 'Who opened it; cleared when the user is deleted.';
COMMENT ON COLUMN conversations.title IS 'For people; empty where a run made the conversation.';
`,
};
