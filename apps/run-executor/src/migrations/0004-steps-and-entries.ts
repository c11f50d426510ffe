import type { Migration } from '@runyard/persistence';

/** The live view of a run: its steps as they complete, and the trajectory until it is written into the row. */
export const stepsAndEntries: Migration = {
  name: 'CreateStepsAndEntries',
  timestamp: 1_764_460_003_000,
  up: `
CREATE TABLE agent_steps (
  run_id text NOT NULL REFERENCES agent_runs ON DELETE CASCADE,
  seq integer NOT NULL CHECK (seq >= 1),
  org_id uuid NOT NULL,
  step integer NOT NULL CHECK (step >= 0),
  kind text NOT NULL CHECK (kind IN ('model_turn', 'tool_call', 'approval')),
  call_id text,
  model text,
  tool text,
  arguments text,
  arguments_digest text,
  content text,
  content_digest text,
  content_bytes bigint CHECK (content_bytes >= 0),
  reasoning text,
  outcome text NOT NULL CHECK (outcome IN ('succeeded', 'failed', 'denied', 'cancelled')),
  error_code text,
  attempts integer NOT NULL DEFAULT 1 CHECK (attempts >= 0),
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  effect text CHECK (effect IN ('read', 'write')),
  rule_id text,
  group_key text,
  decided_by text,
  finish text,
  input_tokens bigint CHECK (input_tokens >= 0),
  output_tokens bigint CHECK (output_tokens >= 0),
  cached_tokens bigint CHECK (cached_tokens >= 0),
  estimated boolean,
  position text NOT NULL,
  PRIMARY KEY (run_id, seq),
  CHECK (ended_at >= started_at),
  CHECK (kind <> 'model_turn' OR (model IS NOT NULL AND input_tokens IS NOT NULL AND output_tokens IS NOT NULL)),
  CHECK (kind <> 'tool_call' OR (tool IS NOT NULL AND call_id IS NOT NULL))
);
COMMENT ON TABLE agent_steps IS 'One row per model turn, tool call and decision on a parked call, inserted when it is complete and never changed.';
COMMENT ON COLUMN agent_steps.seq IS 'Place in the run: a model turn, then its calls in call order, whatever order their results came in.';
COMMENT ON COLUMN agent_steps.step IS 'Loop step that it belongs to.';
COMMENT ON COLUMN agent_steps.arguments IS 'The raw text that the provider sent; the beginning of it where arguments_digest names the whole.';
COMMENT ON COLUMN agent_steps.content IS 'Answer of the model, observation of the call or text of the decision; the beginning where content_digest names the whole.';
COMMENT ON COLUMN agent_steps.content_bytes IS 'UTF-8 size of the whole content where it is stored by digest.';
COMMENT ON COLUMN agent_steps.attempts IS 'How often the call was dispatched; 0 where it was settled without.';
COMMENT ON COLUMN agent_steps.decided_by IS 'Who let the call run or refused it: a rule, a user, the mode or the system.';
COMMENT ON COLUMN agent_steps.estimated IS 'True where the provider reported no usage and the counts are an upper estimate.';

CREATE FUNCTION refuse_update() RETURNS trigger LANGUAGE plpgsql AS $body$
BEGIN
  RAISE EXCEPTION '%.% rows are immutable', TG_TABLE_SCHEMA, TG_TABLE_NAME USING ERRCODE = 'integrity_constraint_violation';
END $body$;
CREATE TRIGGER agent_steps_immutable BEFORE UPDATE ON agent_steps
  FOR EACH ROW EXECUTE FUNCTION refuse_update();

CREATE TABLE run_entries (
  run_id text NOT NULL REFERENCES agent_runs ON DELETE CASCADE,
  place integer NOT NULL,
  org_id uuid NOT NULL,
  entry jsonb NOT NULL,
  PRIMARY KEY (run_id, place)
);
COMMENT ON TABLE run_entries IS 'The trajectory of unfinished runs; the statement that ends a run moves it into agent_runs.entries.';

CREATE TABLE run_progress (
  run_id text PRIMARY KEY REFERENCES agent_runs ON DELETE CASCADE,
  org_id uuid NOT NULL,
  next_seq integer NOT NULL,
  next_place integer NOT NULL,
  entry_bytes bigint NOT NULL,
  turn jsonb
) WITH (fillfactor = 50);
COMMENT ON TABLE run_progress IS 'What the projection must remember of an unfinished run: next free places and the calls of the open turn.';
`,
};
