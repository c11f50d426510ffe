import type { ChatMessage } from './dialog';

/** Bytes added per message on top of its text: role, separators, ids (P6.2). */
const BYTES_PER_MESSAGE = 16;

/** Bytes that are taken for one token when older parts are left out; text in most languages has more bytes a token. */
const BYTES_PER_TOKEN = 3;

/**
 * The dialog as the model sees it: an append-only list with structural sharing, so that a run of thousands of steps
 * adds to one array instead of copying it. A value stays what it was when others append to the same array after it.
 */
export interface Transcript {
  readonly buffer: ChatMessage[];
  readonly length: number;
  /** Upper bound of the tokens of all messages: their UTF-8 bytes + 16 each. */
  readonly bytes: number;
}

export const EMPTY_TRANSCRIPT: Transcript = { buffer: [], length: 0, bytes: 0 };

export function append(transcript: Transcript, added: readonly ChatMessage[]): Transcript {
  const shared = transcript.length > 0 && transcript.buffer.length === transcript.length;
  const buffer = shared ? transcript.buffer : transcript.buffer.slice(0, transcript.length);
  let { bytes } = transcript;
  for (const message of added) {
    buffer.push(message);
    bytes += messageBytes(message);
  }
  return { buffer, length: transcript.length + added.length, bytes };
}

/** All messages. The same array as before when nothing but appends happened, so that readers may remember how far they were. */
export function messagesOf(transcript: Transcript): readonly ChatMessage[] {
  return transcript.buffer.length === transcript.length
    ? transcript.buffer
    : transcript.buffer.slice(0, transcript.length);
}

export function messageBytes(message: ChatMessage): number {
  if (message.role !== 'assistant') return byteLength(message.text) + BYTES_PER_MESSAGE;
  let bytes = byteLength(message.text ?? '') + byteLength(message.providerState ?? '') + BYTES_PER_MESSAGE;
  for (const call of message.toolCalls)
    bytes += byteLength(call.tool) + byteLength(call.arguments) + BYTES_PER_MESSAGE;
  return bytes;
}

/** UTF-8 length; a lone surrogate counts as the three bytes of its replacement. */
export function byteLength(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (unit >= 0xd800 && unit < 0xdc00 && isLow(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

const isLow = (unit: number): boolean => unit >= 0xdc00 && unit < 0xe000;

export interface FittedDialog {
  messages: readonly ChatMessage[];
  /** Upper bound of the tokens of `messages`. */
  bytes: number;
  /** How many older messages were left out. */
  omitted: number;
}

/**
 * The newest part of the dialog that fits `tokens` of context. Rule: whole exchanges are left out from the oldest on (a
 * tool result never goes without its call), and a note in their place says how many messages are missing.
 */
export function fitInto(transcript: Transcript, tokens: number): FittedDialog {
  const all = messagesOf(transcript);
  const room = tokens * BYTES_PER_TOKEN;
  if (transcript.bytes <= room) return { messages: all, bytes: transcript.bytes, omitted: 0 };
  let from = all.length;
  let bytes = 0;
  let pending = 0;
  for (let i = all.length - 1; i >= 0; i--) {
    const message = all[i];
    if (!message) break;
    pending += messageBytes(message);
    if (message.role === 'tool') continue;
    if (from < all.length && bytes + pending > room) break;
    bytes += pending;
    pending = 0;
    from = i;
  }
  const note: ChatMessage = { role: 'user', text: omissionNote(from) };
  return { messages: [note, ...all.slice(from)], bytes: bytes + messageBytes(note), omitted: from };
}

export const omissionNote = (messages: number): string =>
  `[${messages} earlier messages of this conversation were left out because they do not fit the model's context window.]`;
