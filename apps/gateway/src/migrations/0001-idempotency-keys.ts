import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

/** Operational: not projected from the log, never verified; what is lost with it is the memory of 24 hours. */
export const idempotencyKeys: Migration = {
  name: 'CreateIdempotencyKeys',
  timestamp: 1_764_460_100_000,
  up: `
CREATE TABLE idempotency_keys (
  org_id uuid NOT NULL,
  caller text NOT NULL,
  route text NOT NULL,
  key text NOT NULL CHECK (length(key) BETWEEN 1 AND 255),
  fingerprint text NOT NULL,
  answer json,
  taken_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (org_id, caller, route, key)
);
CREATE INDEX idempotency_keys_age ON idempotency_keys (org_id, taken_at);
COMMENT ON TABLE idempotency_keys IS 'Answers to POST requests that carried an Idempotency-Key, replayed to a repetition within 24 hours.';
COMMENT ON COLUMN idempotency_keys.fingerprint IS 'SHA-256 of method, path, query and canonical body: another request with the key is refused.';
COMMENT ON COLUMN idempotency_keys.answer IS 'Status, headers and body as first answered, without what is shown once; null while the request is in progress. json, not jsonb: order and texts stay as they were.';
${enableTenantPolicies('gateway', 'idempotency_keys')}
`,
};
