import type { DomainEvent } from '../envelope';
import type { ModelProvider, ToolDefinition } from '../runs/run.definition';

/**
 * Two aggregates an org: `models` (the allowed list, so that its one default and its fallback lists are consistent)
 * and `tools` (the tool catalogue). Context `catalogue`, aggregate ids {@link MODELS_ID} and {@link TOOLS_ID}.
 */
export const MODELS_ID = 'models';
export const TOOLS_ID = 'tools';

/** Prices per million tokens as decimal strings, valid from an RFC 3339 time on. Money is never a float. */
export interface ModelPrices {
  currency: string;
  input: string;
  output: string;
  cached: string;
  validFrom: string;
}

/** A row of the org's allowed models. The row is the route: an admin may repoint it without a new agent version. */
export interface AllowedModel {
  modelId: string;
  label: string;
  /** What an author asks for, e.g. fast, balanced, deep. */
  tier: string;
  provider: ModelProvider;
  model: string;
  contextWindow: number;
  maxOutputTokens: number;
  prices: ModelPrices[];
  /** Other rows of the list, tried in order when this one is unavailable. */
  fallbacks: string[];
}

/** A model has been put on the org's list. */
export type ModelAllowed = DomainEvent<'ModelAllowed', { model: AllowedModel }>;
/** A row of the list has changed; agents that name it follow. */
export type ModelRevised = DomainEvent<'ModelRevised', { model: AllowedModel }>;
/** Leaves every fallback list at once. */
export type ModelRemoved = DomainEvent<'ModelRemoved', { modelId: string }>;
/** The model of agents whose author chose none. */
export type DefaultModelSet = DomainEvent<'DefaultModelSet', { modelId: string }>;
/** The layer ahead of every owner's prompt; empty: none. */
export type PlatformPromptSet = DomainEvent<'PlatformPromptSet', { prompt: string }>;

/** Aggregate `models`. */
export type ModelsEvent = ModelAllowed | ModelRevised | ModelRemoved | DefaultModelSet | PlatformPromptSet;

/** A row of the tool catalogue. */
export interface CatalogueTool extends ToolDefinition {
  /** False: links stay, but runs start without the tool. */
  agentsAllowed: boolean;
}

/** A tool has been put into the org's catalogue. */
export type ToolRegistered = DomainEvent<'ToolRegistered', { tool: CatalogueTool }>;
/** A tool has changed; runs that are queued from now on get the new form. */
export type ToolRevised = DomainEvent<'ToolRevised', { tool: CatalogueTool }>;
/** A tool has left the catalogue; agents lose it. */
export type ToolRemoved = DomainEvent<'ToolRemoved', { name: string }>;

/** Aggregate `tools`. */
export type ToolsEvent = ToolRegistered | ToolRevised | ToolRemoved;

export type CatalogueEvent = ModelsEvent | ToolsEvent;

export const CATALOGUE_EVENTS: Readonly<Record<CatalogueEvent['type'], true>> = {
  ModelAllowed: true,
  ModelRevised: true,
  ModelRemoved: true,
  DefaultModelSet: true,
  PlatformPromptSet: true,
  ToolRegistered: true,
  ToolRevised: true,
  ToolRemoved: true,
};
