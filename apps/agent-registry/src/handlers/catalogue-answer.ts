import { toolSourceOf, toolSourceRow } from '@runyard/contracts';
import type {
  AllowModelInput,
  AllowedModel,
  CatalogueTool,
  JsonObject,
  ModelPrices,
  ModelProvider,
  ModelRow,
  RegisterToolInput,
  ToolRow,
  UpdateModelInput,
  UpdateToolInput,
} from '@runyard/contracts';
import type { Models } from '../domain/models';
import { given } from './requests';

/** A row of the list as it was decided, in the words of `models.list`. */
export function modelAnswer(models: Models, modelId: string): ModelRow | undefined {
  const model = models.entries[modelId]?.model;
  if (!model) return undefined;
  return {
    model_id: model.modelId,
    label: model.label,
    tier: model.tier,
    provider: providerRow(model.provider),
    model: model.model,
    context_window: model.contextWindow,
    max_output_tokens: model.maxOutputTokens,
    prices: model.prices.map(({ validFrom, ...price }) => ({ ...price, valid_from: validFrom })),
    fallbacks: model.fallbacks,
    is_default: models.defaultModelId === modelId,
  };
}

function providerRow(provider: ModelProvider): ModelRow['provider'] {
  if (provider.kind === 'recorded') return provider;
  const { baseUrl, ...rest } = provider;
  return { ...rest, ...(baseUrl === undefined ? {} : { base_url: baseUrl }) } as ModelRow['provider'];
}

type ProviderInput = AllowModelInput['provider'];

function providerOf(provider: ProviderInput): ModelProvider {
  if (provider.kind === 'openai-compatible') {
    const { base_url: baseUrl, ...rest } = provider;
    return { ...rest, baseUrl };
  }
  if (provider.kind === 'recorded') return provider;
  const { base_url: baseUrl, ...rest } = provider;
  return baseUrl === undefined ? rest : { ...rest, baseUrl };
}

/** Times in one form, so that two spellings of one instant are one price. */
function pricesOf(prices: AllowModelInput['prices']): ModelPrices[] {
  return prices.map(({ valid_from: from, ...price }) => ({
    ...price,
    validFrom: new Date(from).toISOString(),
  }));
}

export function modelOf(input: AllowModelInput): AllowedModel {
  const { model_id: modelId, label, tier, model, fallbacks } = input;
  const limits = { contextWindow: input.context_window, maxOutputTokens: input.max_output_tokens };
  return {
    modelId,
    label,
    tier,
    model,
    fallbacks,
    ...limits,
    provider: providerOf(input.provider),
    prices: pricesOf(input.prices),
  };
}

/** Only what was given. */
export function modelChangesOf(input: UpdateModelInput): Partial<AllowedModel> {
  return given({
    label: input.label,
    tier: input.tier,
    model: input.model,
    fallbacks: input.fallbacks,
    contextWindow: input.context_window,
    maxOutputTokens: input.max_output_tokens,
    provider: input.provider && providerOf(input.provider),
    prices: input.prices && pricesOf(input.prices),
  });
}

/** A tool as it was decided, in the words of `tools.list`. */
export function toolAnswer(tool: CatalogueTool): ToolRow {
  const { name, description, effect, idempotent } = tool;
  return {
    name,
    description,
    effect,
    idempotent,
    input_schema: tool.inputSchema,
    source: toolSourceRow(tool.source),
    timeout_ms: tool.timeoutMs,
    ends_run: tool.endsRun,
    agents_allowed: tool.agentsAllowed,
  };
}

export function toolOf(input: RegisterToolInput): CatalogueTool {
  const { name, description, effect, idempotent } = input;
  const flags = { endsRun: input.ends_run, agentsAllowed: input.agents_allowed };
  return {
    name,
    description,
    effect,
    idempotent,
    source: toolSourceOf(input.source),
    ...flags,
    inputSchema: input.input_schema as JsonObject,
    timeoutMs: input.timeout_ms,
  };
}

/** Only what was given. */
export function toolChangesOf(input: UpdateToolInput): Partial<CatalogueTool> {
  return given({
    description: input.description,
    effect: input.effect,
    idempotent: input.idempotent,
    source: input.source && toolSourceOf(input.source),
    inputSchema: input.input_schema as JsonObject | undefined,
    timeoutMs: input.timeout_ms,
    endsRun: input.ends_run,
    agentsAllowed: input.agents_allowed,
  });
}
