import { toolSourceRow } from '@runyard/contracts';
import type { AllowedModel, CatalogueEvent, CatalogueTool } from '@runyard/contracts';
import type { Recorded, RecordedAs } from './commits';
import type { Table } from './records';

/** A row of `allowed_models`. */
export interface ModelRecord {
  org_id: string;
  model_id: string;
  label: string;
  tier: string;
  provider: unknown;
  model: string;
  context_window: number;
  max_output_tokens: number;
  prices: unknown;
  fallbacks: string[];
  removed_at: string | null;
  position: string;
}

/** A row of `tools`. */
export interface ToolRecord {
  org_id: string;
  name: string;
  description: string;
  input_schema: unknown;
  effect: string;
  idempotent: boolean;
  source: unknown;
  timeout_ms: number;
  ends_run: boolean;
  agents_allowed: boolean;
  position: string;
}

/** A row of `catalogue_settings`. */
export interface SettingsRecord {
  org_id: string;
  default_model_id: string | null;
  platform_prompt: string;
  position: string;
}

export const MODELS: Table<ModelRecord> = {
  name: 'allowed_models',
  key: ['org_id', 'model_id'],
  columns: [
    ...(['label', 'tier', 'provider', 'model', 'context_window', 'max_output_tokens'] as const),
    ...(['prices', 'fallbacks', 'removed_at', 'position'] as const),
  ],
};
export const TOOLS: Table<ToolRecord> = {
  name: 'tools',
  key: ['org_id', 'name'],
  columns: [
    ...(['description', 'input_schema', 'effect', 'idempotent', 'source'] as const),
    ...(['timeout_ms', 'ends_run', 'agents_allowed', 'position'] as const),
  ],
};
export const SETTINGS: Table<SettingsRecord> = {
  name: 'catalogue_settings',
  key: ['org_id'],
  columns: ['default_model_id', 'platform_prompt', 'position'],
};

/** One org's catalogue as its events leave it. */
export interface CatalogueImage {
  models: Map<string, ModelRecord>;
  tools: Map<string, ToolRecord>;
  settings: SettingsRecord;
}

export type CatalogueRecorded = RecordedAs<CatalogueEvent>;

export const emptyCatalogue = (org: string): CatalogueImage => ({
  models: new Map(),
  tools: new Map(),
  settings: { org_id: org, default_model_id: null, platform_prompt: '', position: '0.0' },
});

/** Applies an event to the image of its org. */
export function evolveCatalogue(image: CatalogueImage, event: CatalogueRecorded): void {
  const { settings, models, tools } = image;
  const { position } = event;
  switch (event.type) {
    case 'ModelAllowed':
    case 'ModelRevised':
      models.set(event.data.model.modelId, modelRecord(event, event.data.model));
      return;
    case 'ModelRemoved':
      return removeModel(image, event, event.data.modelId);
    case 'DefaultModelSet':
      image.settings = { ...settings, default_model_id: event.data.modelId, position };
      return;
    case 'PlatformPromptSet':
      image.settings = { ...settings, platform_prompt: event.data.prompt, position };
      return;
    case 'ToolRegistered':
    case 'ToolRevised':
      tools.set(event.data.tool.name, toolRecord(event, event.data.tool));
      return;
    case 'ToolRemoved':
      tools.delete(event.data.name);
      return;
    default:
      event satisfies never;
  }
}

/** The row leaves every fallback list at once; itself it stays for its prices. */
function removeModel(image: CatalogueImage, event: Recorded, modelId: string): void {
  const { position } = event;
  for (const [id, model] of image.models) {
    if (id === modelId) image.models.set(id, { ...model, fallbacks: [], removed_at: event.time, position });
    else if (model.fallbacks.includes(modelId))
      image.models.set(id, {
        ...model,
        fallbacks: model.fallbacks.filter((fallback) => fallback !== modelId),
        position,
      });
  }
  if (image.settings.default_model_id === modelId)
    image.settings = { ...image.settings, default_model_id: null, position };
}

function modelRecord({ org, position }: Recorded, model: AllowedModel): ModelRecord {
  const { provider, prices } = model;
  return {
    org_id: org,
    model_id: model.modelId,
    label: model.label,
    tier: model.tier,
    provider: 'baseUrl' in provider ? renamed(provider) : provider,
    model: model.model,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    prices: prices.map(({ validFrom, ...price }) => ({ ...price, valid_from: validFrom })),
    fallbacks: model.fallbacks,
    removed_at: null,
    position,
  };
}

const renamed = ({ baseUrl, ...rest }: { baseUrl?: string }) => ({
  ...rest,
  ...(baseUrl === undefined ? {} : { base_url: baseUrl }),
});

function toolRecord({ org, position }: Recorded, tool: CatalogueTool): ToolRecord {
  return {
    org_id: org,
    name: tool.name,
    description: tool.description,
    input_schema: tool.inputSchema,
    effect: tool.effect,
    idempotent: tool.idempotent,
    source: toolSourceRow(tool.source),
    timeout_ms: tool.timeoutMs,
    ends_run: tool.endsRun,
    agents_allowed: tool.agentsAllowed,
    position,
  };
}
