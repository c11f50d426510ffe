import type { ModelRow, ToolRow } from '@runyard/contracts';
import type { Tx } from '@runyard/persistence';

/** The allowed list, by label. Removed rows are left out. */
export async function listModels(tx: Tx): Promise<ModelRow[]> {
  return tx.query<ModelRow>(
    `SELECT m.model_id, m.label, m.tier, m.provider, m.model, m.context_window, m.max_output_tokens, m.prices, m.fallbacks,
       coalesce(s.default_model_id = m.model_id, false) AS is_default
     FROM allowed_models m LEFT JOIN catalogue_settings s USING (org_id)
     WHERE m.removed_at IS NULL ORDER BY m.label, m.model_id`,
  );
}

/** The tool catalogue, by name. */
export async function listTools(tx: Tx): Promise<ToolRow[]> {
  return tx.query<ToolRow>(
    `SELECT name, description, input_schema, effect, idempotent, source, timeout_ms, ends_run, agents_allowed
     FROM tools ORDER BY name`,
  );
}

/** The layer ahead of every owner's prompt; empty: none. */
export async function platformPrompt(tx: Tx): Promise<string> {
  const [row] = await tx.query<{ platform_prompt: string }>('SELECT platform_prompt FROM catalogue_settings');
  return row?.platform_prompt ?? '';
}
