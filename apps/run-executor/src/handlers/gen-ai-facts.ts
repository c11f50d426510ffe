import type { ModelRoute, TokenUsage } from '@runyard/contracts';
import type { NewRunEvent } from '../domain/decision';

// Facts of calls under the attribute names of OpenTelemetry's semantic conventions for generative AI.

type Attributes = Record<string, string | number | string[]>;

/** What is asked of a provider. */
export function routeFacts({ provider, model, maxOutputTokens }: ModelRoute): Attributes {
  const address = 'baseUrl' in provider && provider.baseUrl ? hostOf(provider.baseUrl) : undefined;
  return {
    'gen_ai.provider.name': provider.kind,
    'gen_ai.request.model': model,
    'gen_ai.request.max_tokens': maxOutputTokens,
    ...(address ? { 'server.address': address } : {}),
  };
}

/** Input includes what was read from the cache, output includes reasoning, as the conventions have it. */
export const usageFacts = ({ input, output, cached }: TokenUsage): Attributes => ({
  'gen_ai.usage.input_tokens': input,
  'gen_ai.usage.output_tokens': output,
  'gen_ai.usage.cache_read.input_tokens': cached,
});

/** What became of an attempt: its name for metrics, the code of its failure, and what the answer says of itself. */
export function outcomeOf({ type, data }: NewRunEvent): {
  name: string;
  error: string | null;
  attributes: Attributes;
} {
  switch (type) {
    case 'ModelTurnCompleted':
      return {
        name: 'succeeded',
        error: null,
        attributes: { 'gen_ai.response.model': data.model, 'gen_ai.response.finish_reasons': [data.finish] },
      };
    case 'ModelCallFailed':
    case 'ToolCallFailed':
      return { name: 'failed', error: data.error.code, attributes: {} };
    case 'ToolCallAmbiguous':
      return { name: 'ambiguous', error: `ambiguous_${data.cause}`, attributes: {} };
    case 'ToolCallCancelled':
      return { name: 'cancelled', error: 'cancelled', attributes: {} };
    default:
      return { name: 'succeeded', error: null, attributes: {} };
  }
}

/** Host of an address; undefined for one that is none. */
function hostOf(address: string): string | undefined {
  return URL.canParse(address) ? new URL(address).hostname : undefined;
}
