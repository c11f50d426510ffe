import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import type { ModelRoute } from '@runyard/contracts';
import { OpenAiAnswer } from './openai-answer';
import { blank } from './pairing';
import { promptOf, toolsOf, type AssistantPart, type Dialect, type LanguageModel, type Turn } from './prompt';
import { openState } from './provider-state';
import type { ProviderKind } from './remote.adapter';
import { argumentsText, sendable } from './sendable-text';
import { fieldsOf, listOf } from './wire-json';

type Route = ModelRoute & { provider: { kind: 'openai-compatible' } };

/** Endpoints of OpenAI itself refuse `max_tokens` for reasoning models; all others know only that name. */
const NEW_LIMIT_NAME = /(^|\.)(api\.openai\.com|openai\.azure\.com)$/;

/** Any chat-completions endpoint. */
export const openAiCompatible: ProviderKind<Route> = {
  accepts: (route): route is Route => route.provider.kind === 'openai-compatible',
  baseUrl: (route) => route.provider.baseUrl,
  credential: (route) => route.provider.credential,
  reader: () => new OpenAiAnswer(),
  model: (route, secret, fetch): LanguageModel => {
    const { baseUrl, headers } = route.provider;
    return createOpenAICompatible({
      name: 'runyard',
      baseURL: baseUrl,
      includeUsage: true,
      fetch,
      ...(secret === undefined ? {} : { apiKey: secret }),
      ...(headers ? { headers } : {}),
      transformRequestBody: (body) => limitName(body, new URL(baseUrl).hostname),
    }).languageModel(route.model);
  },
  options: (request, route) => ({
    prompt: promptOf(request, dialectOf(route)),
    tools: toolsOf(request.tools),
    maxOutputTokens: request.maxOutputTokens,
  }),
};

function limitName(body: Record<string, unknown>, host: string): Record<string, unknown> {
  if (!NEW_LIMIT_NAME.test(host)) return body;
  const { max_tokens, ...rest } = body;
  return { ...rest, max_completion_tokens: max_tokens };
}

function dialectOf(route: ModelRoute): Dialect {
  return {
    result: (text) => text,
    turn: (turn, names) => {
      const state = openState(route, turn.providerState);
      const extras = listOf(state?.['calls']);
      const content: AssistantPart[] = blank(turn.text)
        ? []
        : [{ type: 'text', text: sendable(turn.text ?? '') }];
      for (const [index, call] of turn.calls.entries()) {
        const name = names.toWire(call.tool);
        const extra = extras[index];
        content.push({
          type: 'tool-call',
          toolCallId: call.id,
          toolName: name,
          input: {},
          // The package would write arguments anew or twice; given as vendor data they go out as they came in.
          ...vendorData({
            function: { name, arguments: argumentsText(call.arguments) },
            ...(extra == null ? {} : { extra_content: extra }),
          }),
        });
      }
      return { role: 'assistant', content, ...vendorData(messageState(turn, state?.['message'])) };
    },
  };
}

const messageState = (turn: Turn, message: unknown): object =>
  (turn.calls.length > 0 && fieldsOf(message)) || {};

/** JSON that goes into the request as it is; it comes out of JSON texts, so it is JSON. */
function vendorData(data: object): { providerOptions?: AssistantPart['providerOptions'] } {
  return Object.keys(data).length === 0
    ? {}
    : { providerOptions: { openaiCompatible: JSON.parse(JSON.stringify(data)) } };
}
