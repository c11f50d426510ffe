/** A message of the dialog as models see it. Call ids are ours; they are unique in the request. */
export type ChatMessage =
  | { role: 'user'; text: string }
  | {
      role: 'assistant';
      /** Null: the provider sent none. */
      text: string | null;
      toolCalls: readonly { callId: string; tool: string; arguments: string }[];
      /** Opaque provider data of this turn (JSON text), to be sent back to the same provider only. */
      providerState: string | null;
      /** Provider kind and model name that wrote `providerState`. */
      provider: string | null;
    }
  | { role: 'tool'; callId: string; tool: string; text: string };
