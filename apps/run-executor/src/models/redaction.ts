import type { ModelFailure, ModelResult } from './types';

const MASK = '[redacted]';

/** Shorter values occur in ordinary text; replacing them in an answer would change what the model said. */
const SHORTEST_IN_ANSWERS = 8;
const SHORTEST_IN_ERRORS = 3;

/** The result without the secret: endpoints and network layers like to repeat what they were sent. */
export function redacted(result: ModelResult, secret: string | undefined): ModelResult {
  if (secret === undefined) return result;
  if (!result.ok) return { ok: false, failure: redactedFailure(result.failure, secret) };
  if (secret.length < SHORTEST_IN_ANSWERS || !JSON.stringify(result.turn).includes(secret)) return result;
  const { turn } = result;
  const clean = (text: string): string => text.replaceAll(secret, MASK);
  return {
    ok: true,
    turn: {
      ...turn,
      text: turn.text === null ? null : clean(turn.text),
      reasoning: turn.reasoning === null ? null : clean(turn.reasoning),
      toolCalls: turn.toolCalls.map((call) => ({ ...call, arguments: clean(call.arguments) })),
      providerState: turn.providerState === null ? null : clean(turn.providerState),
    },
  };
}

function redactedFailure(failure: ModelFailure, secret: string): ModelFailure {
  if (secret.length < SHORTEST_IN_ERRORS) return failure;
  const { text, partialText } = failure;
  return {
    ...failure,
    text: text.replaceAll(secret, MASK),
    partialText: partialText === null ? null : partialText.replaceAll(secret, MASK),
  };
}
