import { enableTenantPolicies } from '@runyard/persistence';
import type { Migration } from '@runyard/persistence';

const SERVICE = 'agent-registry';

/** The allowed models, the tools and what the platform says ahead of every prompt. */
export const CREATE_CATALOGUE: Migration = {
  name: 'CreateCatalogue',
  timestamp: 1_764_460_800_002,
  up: `
    CREATE TABLE catalogue_settings (
      org_id uuid PRIMARY KEY,
      default_model_id text,
      platform_prompt text NOT NULL DEFAULT '',
      position text NOT NULL
    );
    COMMENT ON TABLE catalogue_settings IS 'One row an org: its default model and the platform''s prompt. Projection of AGENTS';
    ${enableTenantPolicies(SERVICE, 'catalogue_settings')}

    CREATE TABLE allowed_models (
      org_id uuid NOT NULL,
      model_id text NOT NULL,
      label text NOT NULL,
      tier text NOT NULL,
      provider jsonb NOT NULL,
      model text NOT NULL,
      context_window int NOT NULL CHECK (context_window > 0),
      max_output_tokens int NOT NULL CHECK (max_output_tokens > 0),
      prices jsonb NOT NULL CHECK (jsonb_typeof(prices) = 'array'),
      fallbacks text[] NOT NULL,
      removed_at timestamptz,
      position text NOT NULL,
      PRIMARY KEY (org_id, model_id)
    );
    COMMENT ON TABLE allowed_models IS 'Routes to models that an org allows. Projection of AGENTS';
    COMMENT ON COLUMN allowed_models.prices IS 'Per million tokens, decimal strings, each with the time from which it holds';
    COMMENT ON COLUMN allowed_models.removed_at IS 'Set when the row left the list; the row stays, since reports name its prices';
    ${enableTenantPolicies(SERVICE, 'allowed_models')}

    CREATE TABLE tools (
      org_id uuid NOT NULL,
      name text NOT NULL,
      description text NOT NULL,
      input_schema jsonb NOT NULL,
      effect text NOT NULL CHECK (effect IN ('read', 'write')),
      idempotent boolean NOT NULL,
      source jsonb NOT NULL,
      timeout_ms int NOT NULL CHECK (timeout_ms > 0),
      ends_run boolean NOT NULL,
      agents_allowed boolean NOT NULL,
      position text NOT NULL,
      PRIMARY KEY (org_id, name)
    );
    COMMENT ON TABLE tools IS 'The org''s tool catalogue. Projection of AGENTS';
    COMMENT ON COLUMN tools.agents_allowed IS 'False: links stay, but runs start without the tool';
    ${enableTenantPolicies(SERVICE, 'tools')}`,
};
