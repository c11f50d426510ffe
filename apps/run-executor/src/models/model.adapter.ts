import { anthropic } from './anthropic.adapter';
import { openAiCompatible } from './openai-compatible.adapter';
import { failure } from './provider.errors';
import { DEFAULT_TIMEOUTS, type ModelTimeouts } from './provider-exchange';
import { recordedAdapter } from './recorded.adapter';
import { remoteAdapter } from './remote.adapter';
import type { ModelAdapter, ModelRequest, ModelResult } from './types';

export interface ModelAdapterOptions {
  /** Value of a secret by its name; undefined: it is not set. */
  secrets: (name: string) => string | undefined;
  /** Content of a recording by its name: parsed JSON, or its text. */
  recordings: (name: string) => Promise<unknown>;
  fetch?: typeof globalThis.fetch;
  timeouts?: Partial<ModelTimeouts>;
  /** Epoch milliseconds; only for `retry-after` dates of answers without a date of their own. */
  now?: () => number;
}

/** Calls models of every kind of provider. One attempt per call, never throws: the run's loop retries and records. */
export function createModelAdapter(options: ModelAdapterOptions): ModelAdapter {
  const settings = {
    secrets: options.secrets,
    // Looked up at each call, so that what instruments fetch later is used.
    fetch: options.fetch ?? ((input, init) => globalThis.fetch(input, init)),
    timeouts: { ...DEFAULT_TIMEOUTS, ...options.timeouts },
    now: options.now ?? Date.now,
  };
  const adapters: Record<ModelRequest['route']['provider']['kind'], ModelAdapter> = {
    'openai-compatible': remoteAdapter(openAiCompatible, settings),
    anthropic: remoteAdapter(anthropic, settings),
    recorded: recordedAdapter(options.recordings),
  };
  return {
    call: async (request): Promise<ModelResult> => {
      if (request.signal.aborted)
        return { ok: false, failure: failure('cancelled', 'The model call was cancelled before it began.') };
      return adapters[request.route.provider.kind].call(request);
    },
  };
}
