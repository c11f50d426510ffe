import type { Migration } from '@runyard/persistence';

/**
 * Operational facts (P8.6): never verified or rebuilt, except that the projection keeps `run_keys`, `run_drivers` and
 * `deleted_runs` in step with the log. `claim_slot` is a function because a claim must be one round trip (P2.3).
 */
export const operations: Migration = {
  name: 'CreateOperations',
  timestamp: 1_764_460_004_000,
  up: `
CREATE TABLE run_slots (
  slot_key text PRIMARY KEY,
  kind text NOT NULL GENERATED ALWAYS AS (split_part(slot_key, ':', 1)) STORED CHECK (kind IN ('agent', 'conversation')),
  run_id text NOT NULL,
  previous_run_id text,
  org_id uuid NOT NULL,
  digest text NOT NULL,
  claimed_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (run_id, kind)
);
COMMENT ON TABLE run_slots IS 'Who holds the one active place of an agent or a conversation. Claimed before a run is logged, freed after its end.';
COMMENT ON COLUMN run_slots.previous_run_id IS 'Whom the holder replaced: the turn before in a conversation.';

CREATE TABLE run_keys (
  run_id text PRIMARY KEY,
  org_id uuid NOT NULL,
  digest text,
  ended boolean NOT NULL DEFAULT false
);
COMMENT ON TABLE run_keys IS 'Every run id that was ever used, without content; outlives retention and erasure (P2.8).';
COMMENT ON COLUMN run_keys.digest IS 'Digest of the request; null where a request was fenced before it became a run (P2.6).';

CREATE TABLE run_drivers (
  run_id text PRIMARY KEY,
  org_id uuid NOT NULL,
  epoch integer NOT NULL,
  instance text NOT NULL,
  heartbeat_at timestamptz NOT NULL
) WITH (fillfactor = 70);
CREATE INDEX run_drivers_of_instance ON run_drivers (instance);
COMMENT ON TABLE run_drivers IS 'Who drives each running run: from the last claim in the log; the driver itself moves heartbeat_at.';

CREATE TABLE deleted_runs (
  run_id text PRIMARY KEY,
  org_id uuid NOT NULL,
  agent_id text NOT NULL,
  state text NOT NULL,
  ended_at timestamptz,
  input_tokens bigint NOT NULL,
  output_tokens bigint NOT NULL,
  cached_tokens bigint NOT NULL,
  sequence bigint NOT NULL,
  deleted_at timestamptz NOT NULL
);
COMMENT ON TABLE deleted_runs IS 'Tombstones of deleted runs, without content: the audit accounts for their tokens, and nothing brings them back.';

CREATE TABLE unknown_events (
  type text PRIMARY KEY,
  times bigint NOT NULL,
  first_position text NOT NULL,
  last_position text NOT NULL,
  last_sequence bigint NOT NULL
);
COMMENT ON TABLE unknown_events IS 'Event types in the log that this version of the projection does not know and skipped (P8.9).';

CREATE FUNCTION claim_slot(p_org uuid, p_run text, p_digest text, p_agent_slot text, p_conversation_slot text,
  OUT outcome text, OUT slot_key text, OUT holder text, OUT previous_run_id text, OUT digest text, OUT ended boolean)
LANGUAGE plpgsql AS $body$
BEGIN
  SELECT 'known', k.digest, k.ended INTO outcome, digest, ended FROM run_keys k WHERE k.run_id = p_run;
  IF FOUND THEN RETURN; END IF;
  IF p_agent_slot IS NOT NULL THEN
    INSERT INTO run_slots AS s (slot_key, run_id, org_id, digest) VALUES (p_agent_slot, p_run, p_org, p_digest)
      ON CONFLICT ON CONSTRAINT run_slots_pkey DO UPDATE SET digest = s.digest
      RETURNING s.run_id INTO holder;
    IF holder <> p_run THEN outcome := 'held'; slot_key := p_agent_slot; RETURN; END IF;
  END IF;
  IF p_conversation_slot IS NOT NULL THEN
    INSERT INTO run_slots AS s (slot_key, run_id, org_id, digest) VALUES (p_conversation_slot, p_run, p_org, p_digest)
      ON CONFLICT ON CONSTRAINT run_slots_pkey DO UPDATE SET digest = s.digest
      RETURNING s.run_id, s.previous_run_id INTO holder, previous_run_id;
    IF holder <> p_run THEN
      DELETE FROM run_slots s WHERE s.slot_key = p_agent_slot AND s.run_id = p_run;
      outcome := 'held'; slot_key := p_conversation_slot; previous_run_id := NULL; RETURN;
    END IF;
  END IF;
  outcome := 'claimed'; holder := p_run;
END $body$;
`,
};
