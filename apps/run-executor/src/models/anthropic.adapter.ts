import { createAnthropic } from '@ai-sdk/anthropic';
import type { ModelRoute } from '@runyard/contracts';
import { AnthropicAnswer } from './anthropic-answer';
import { blank, type PairedCall } from './pairing';
import { promptOf, toolsOf, type AssistantPart, type Dialect, type PromptMessage, type Turn } from './prompt';
import { openState } from './provider-state';
import type { ProviderKind } from './remote.adapter';
import { argumentsObject, sendable } from './sendable-text';
import type { ToolNames } from './tool-names';
import { fieldsOf, listOf, textOf } from './wire-json';

type Route = ModelRoute & { provider: { kind: 'anthropic' } };

const PUBLIC_ENDPOINT = 'https://api.anthropic.com/v1';
const BLANK_RESULT = '[empty result]';

/** Marks how far a prompt may be cached: without it every step of a run pays the whole dialog again. */
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** Anthropic's messages endpoint, and others that speak the same. */
export const anthropic: ProviderKind<Route> = {
  accepts: (route): route is Route => route.provider.kind === 'anthropic',
  baseUrl: (route) => versioned(route.provider.baseUrl ?? PUBLIC_ENDPOINT),
  credential: (route) => route.provider.credential,
  reader: () => new AnthropicAnswer(),
  model: (route, secret, fetch) =>
    createAnthropic({
      baseURL: versioned(route.provider.baseUrl ?? PUBLIC_ENDPOINT),
      apiKey: secret ?? '',
      fetch,
    }).languageModel(route.model),
  options: (request, route) => ({
    prompt: cacheable(promptOf(request, dialectOf(route))),
    tools: toolsOf(request.tools),
    maxOutputTokens: request.maxOutputTokens,
    // The package asks for unchecked argument parts by default; whole arguments matter more than early ones.
    providerOptions: { anthropic: { toolStreaming: false } },
  }),
};

/** The base URL with a version: people give either form. */
function versioned(baseUrl: string): string {
  const url = baseUrl.replace(/\/+$/, '');
  return URL.canParse(url) && new URL(url).pathname === '/' ? `${url}/v1` : url;
}

/** The system prompt with the tools, and the dialog up to its last message, are what the next step sends again. */
function cacheable(prompt: PromptMessage[]): PromptMessage[] {
  return prompt.map((message, at) =>
    message.role === 'system' || at === prompt.length - 1 ? { ...message, providerOptions: CACHED } : message,
  );
}

function dialectOf(route: ModelRoute): Dialect {
  return {
    result: (text) => (blank(text) ? BLANK_RESULT : text),
    turn: (turn, names) => {
      const content = inOrder(turn, route, names) ?? [
        ...textPart(turn.text),
        ...turn.calls.map((call) => callPart(call, names)),
      ];
      return { role: 'assistant', content };
    },
  };
}

/** The blocks in their old order around the signed thoughts; null without such, or where they do not fit the turn. */
function inOrder(turn: Turn, route: ModelRoute, names: ToolNames): AssistantPart[] | null {
  const parts: AssistantPart[] = [];
  let at = 0;
  let calls = 0;
  for (const value of listOf(openState(route, turn.providerState)?.['blocks'])) {
    const block = fieldsOf(value) ?? {};
    const { thinking, signature, redacted, text, call } = block;
    if (typeof thinking === 'string')
      parts.push(thoughtPart(thinking, { signature: textOf(signature) ?? '' }));
    else if (typeof redacted === 'string') parts.push(thoughtPart('', { redactedData: redacted }));
    else if (typeof text === 'number') parts.push(...textPart((turn.text ?? '').slice(at, (at += text))));
    else if (typeof call === 'number') {
      const paired = turn.calls[call];
      if (!paired) return null;
      parts.push(callPart(paired, names));
      calls++;
    }
  }
  const fits = parts.length > 0 && calls === turn.calls.length && at === (turn.text ?? '').length;
  return fits ? parts : null;
}

const textPart = (text: string | null): AssistantPart[] =>
  blank(text) ? [] : [{ type: 'text', text: sendable(text ?? '') }];

const thoughtPart = (text: string, anthropicData: Record<string, string>): AssistantPart => ({
  type: 'reasoning',
  text,
  providerOptions: { anthropic: anthropicData },
});

const callPart = (call: PairedCall, names: ToolNames): AssistantPart => ({
  type: 'tool-call',
  toolCallId: call.id,
  toolName: names.toWire(call.tool),
  input: argumentsObject(call.arguments),
});
