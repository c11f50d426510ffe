import { Problem } from '@runyard/contracts';
import type { AllowedModel, FieldError, ModelPrices, ModelsEvent } from '@runyard/contracts';
import type { Decided } from './decision';
import { requireAdmin } from './rights';
import type { Asker } from './rights';
import { same } from './same';

/** A row of the list and its incarnation: the how-manieth time that its id was put on the list. */
export interface ModelEntry {
  model: AllowedModel;
  row: number;
}

/** The org's allowed models and the platform's prompt: one aggregate, so that its default and its fallbacks are consistent. */
export interface Models {
  entries: Readonly<Record<string, ModelEntry>>;
  /** Incarnations so far by id, removed rows included. */
  incarnations: Readonly<Record<string, number>>;
  defaultModelId: string | null;
  /** Prices of removed rows by id: they outlive the row, and are there again when it returns. */
  retiredPrices: Readonly<Record<string, readonly ModelPrices[]>>;
  platformPrompt: string;
}

export const NO_MODELS: Models = {
  entries: {},
  incarnations: {},
  defaultModelId: null,
  retiredPrices: {},
  platformPrompt: '',
};

export type ModelsCommand = { asker: Asker } & (
  | { type: 'AllowModel'; model: AllowedModel; isDefault: boolean }
  | { type: 'ReviseModel'; modelId: string; changes: Partial<AllowedModel> }
  | { type: 'RemoveModel'; modelId: string }
  | { type: 'SetDefaultModel'; modelId: string }
  | { type: 'SetPlatformPrompt'; prompt: string }
);
export type ModelsDecision = Decided<ModelsEvent>;

export function evolveModels(models: Models, event: ModelsEvent): Models {
  switch (event.type) {
    case 'ModelAllowed': {
      const { model } = event.data;
      const row = (models.incarnations[model.modelId] ?? 0) + 1;
      const incarnations = { ...models.incarnations, [model.modelId]: row };
      return { ...models, incarnations, entries: { ...models.entries, [model.modelId]: { model, row } } };
    }
    case 'ModelRevised': {
      const { model } = event.data;
      const row = models.entries[model.modelId]?.row ?? 1;
      return { ...models, entries: { ...models.entries, [model.modelId]: { model, row } } };
    }
    case 'ModelRemoved':
      return removed(models, event.data.modelId);
    case 'DefaultModelSet':
      return { ...models, defaultModelId: event.data.modelId };
    case 'PlatformPromptSet':
      return { ...models, platformPrompt: event.data.prompt };
    default:
      return event satisfies never;
  }
}

/** A removed row leaves every fallback list at once (domain, section 2). */
function removed(models: Models, modelId: string): Models {
  const rest = Object.entries(models.entries).filter(([id]) => id !== modelId);
  const entries = rest.map(([id, { model, row }]): [string, ModelEntry] => {
    return [
      id,
      { row, model: { ...model, fallbacks: model.fallbacks.filter((fallback) => fallback !== modelId) } },
    ];
  });
  const defaultModelId = models.defaultModelId === modelId ? null : models.defaultModelId;
  const retired = models.entries[modelId]?.model.prices ?? [];
  const retiredPrices = { ...models.retiredPrices, [modelId]: retired };
  return { ...models, entries: Object.fromEntries(entries), defaultModelId, retiredPrices };
}

export function decideModels(models: Models, command: ModelsCommand): ModelsDecision[] {
  requireAdmin(
    command.asker,
    command.type === 'SetPlatformPrompt' ? "set the platform's prompt" : 'change the allowed models',
  );
  switch (command.type) {
    case 'AllowModel':
      return allow(models, command.model, command.isDefault);
    case 'ReviseModel':
      return revise(models, command.modelId, command.changes);
    case 'RemoveModel':
      return models.entries[command.modelId]
        ? [{ type: 'ModelRemoved', data: { modelId: command.modelId } }]
        : [];
    case 'SetDefaultModel':
      requireEntry(models, command.modelId);
      return models.defaultModelId === command.modelId
        ? []
        : [{ type: 'DefaultModelSet', data: { modelId: command.modelId } }];
    case 'SetPlatformPrompt':
      return models.platformPrompt === command.prompt
        ? []
        : [{ type: 'PlatformPromptSet', data: { prompt: command.prompt } }];
    default:
      return command satisfies never;
  }
}

/** The first row becomes the default: an org with one model means that one. */
function allow(models: Models, model: AllowedModel, isDefault: boolean): ModelsDecision[] {
  const { modelId } = model;
  const there = models.entries[modelId];
  const before = there?.model.prices ?? models.retiredPrices[modelId] ?? [];
  const ordered = { ...model, prices: priced(before, model.prices) };
  if (there && !same(there.model, ordered))
    throw new Problem(
      'already_exists',
      `There is a model ${modelId} on the list already; update it, or choose another id`,
    );
  if (!there) requireValid(models, ordered);
  const becomesDefault =
    (isDefault || Object.keys(models.entries).length === 0) && models.defaultModelId !== modelId;
  return [
    ...(there ? [] : [{ type: 'ModelAllowed' as const, data: { model: ordered } }]),
    ...(becomesDefault ? [{ type: 'DefaultModelSet' as const, data: { modelId } }] : []),
  ];
}

/** Repoints or corrects a row. Prices are added or corrected, never taken away: reports name the prices they used. */
function revise(models: Models, modelId: string, changes: Partial<AllowedModel>): ModelsDecision[] {
  const { model } = requireEntry(models, modelId);
  const next: AllowedModel = {
    ...model,
    ...changes,
    modelId,
    prices: priced(model.prices, changes.prices ?? []),
  };
  if (same(next, model)) return [];
  requireValid(models, next);
  return [{ type: 'ModelRevised', data: { model: next } }];
}

function requireEntry(models: Models, modelId: string): ModelEntry {
  const entry = models.entries[modelId];
  if (!entry) throw new Problem('not_found', `There is no model ${modelId} on the allowed list`);
  return entry;
}

function requireValid(models: Models, model: AllowedModel): void {
  const errors: FieldError[] = [];
  for (const [index, fallback] of model.fallbacks.entries()) {
    const pointer = `/fallbacks/${index}`;
    if (fallback === model.modelId) errors.push({ pointer, detail: 'is the model itself' });
    else if (!models.entries[fallback])
      errors.push({ pointer, detail: 'is not a model of the allowed list' });
    else if (model.fallbacks.indexOf(fallback) !== index) errors.push({ pointer, detail: 'is named twice' });
  }
  if (model.maxOutputTokens > model.contextWindow)
    errors.push({ pointer: '/max_output_tokens', detail: 'is more than the context window' });
  if (new Set(model.prices.map((price) => price.validFrom)).size < model.prices.length)
    errors.push({ pointer: '/prices', detail: 'has two prices from the same time on' });
  if (errors.length)
    throw new Problem(
      'invalid_request',
      `The model is not valid: ${errors[0]?.pointer} ${errors[0]?.detail}`,
      { errors },
    );
}

/** Old prices with the new ones, by time; a new one replaces an old one from the same time on. */
function priced(before: readonly ModelPrices[], added: readonly ModelPrices[]): ModelPrices[] {
  const dates = new Set(added.map((price) => price.validFrom));
  const kept = before.filter((price) => !dates.has(price.validFrom));
  return [...kept, ...added].sort((a, b) => Date.parse(a.validFrom) - Date.parse(b.validFrom));
}
