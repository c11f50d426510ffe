import type { ChatMessage } from './types';

/** A call with its result; every call has exactly one. */
export interface PairedCall {
  id: string;
  tool: string;
  arguments: string;
  result: string;
}

/** A dialog in which nothing is left open: what endpoints accept. */
export type Exchange =
  | { role: 'user'; text: string }
  | { role: 'assistant'; text: string | null; calls: PairedCall[]; providerState: string | null };

/** The result of a call that has none: the run was stopped before it was known (C10). */
export const NO_RESULT =
  'Error: interrupted. No result of this call was recorded; it may or may not have happened.';
/** Stands first where the dialog does not begin with a user's message, as endpoints require. */
export const EARLIER_LEFT_OUT = '[Earlier messages are left out.]';
/** Stands last where the dialog ends with the model's own words: newer models refuse to continue those. */
export const GO_ON = '[Continue.]';
/** A blank message of a user; endpoints refuse texts without any character. */
export const BLANK_MESSAGE = '[empty message]';

/** Ids that every endpoint takes. */
const UNTAKEN = /[^A-Za-z0-9_-]/g;

/**
 * Turns any cut of a history into one that endpoints accept, in one pass: results stand directly after their call in call
 * order, a call without result gets one that says so, results without call are dropped (their call was left out before
 * them), turns without text and calls are left out (C22), and ids are unique (C18).
 */
export function pairedHistory(messages: readonly ChatMessage[]): Exchange[] {
  const exchanges: Exchange[] = [];
  const open = new Map<string, PairedCall>();
  const ids = new Set<string>();
  for (const message of messages) {
    if (message.role === 'user')
      exchanges.push({ role: 'user', text: blank(message.text) ? BLANK_MESSAGE : message.text });
    else if (message.role === 'tool') {
      const call = open.get(message.callId);
      if (call) call.result = message.text;
      open.delete(message.callId);
    } else if (message.toolCalls.length > 0 || !blank(message.text)) {
      const calls = message.toolCalls.map((call) => {
        const paired = {
          id: unique(call.callId, ids),
          tool: call.tool,
          arguments: call.arguments,
          result: NO_RESULT,
        };
        open.set(call.callId, paired);
        return paired;
      });
      exchanges.push({ role: 'assistant', text: message.text, calls, providerState: message.providerState });
    }
  }
  return framed(exchanges);
}

export const blank = (text: string | null): boolean => text === null || text.trim() === '';

function framed(exchanges: Exchange[]): Exchange[] {
  const first = exchanges[0];
  const last = exchanges.at(-1);
  if (first?.role !== 'user') exchanges.unshift({ role: 'user', text: EARLIER_LEFT_OUT });
  if (last?.role === 'assistant' && last.calls.length === 0) exchanges.push({ role: 'user', text: GO_ON });
  return exchanges;
}

function unique(callId: string, taken: Set<string>): string {
  const clean = callId.replace(UNTAKEN, '_') || 'call';
  let id = clean;
  for (let n = 2; taken.has(id); n++) id = `${clean}_${n}`;
  taken.add(id);
  return id;
}
