import { deadSubject } from '@runyard/contracts';
import { MESSAGE_ID } from './commit';
import { parseHeaders } from './history';
import type { QueueItem } from './publish';
import type { QueueMessage } from './queue';

/** A message that nobody could handle. Times in epoch milliseconds. */
export interface DeadLetter {
  /** Its place among the dead letters. */
  sequence: number;
  /** Where it came from. */
  stream: string;
  consumer: string;
  originSequence: number;
  subject: string;
  attempts: number;
  reason: string;
  /** When it was first stored, and when it was given up. */
  firstAt: number;
  lastAt: number;
  /** Headers that it came with. */
  headers: Record<string, string>;
  body: Uint8Array;
}

const PREFIX = 'Runyard-Dead-';
const REASON_LENGTH = 1_000;

/** Header values travel as one line of ASCII; everything else is escaped, so that no reason can break the message. */
const encode = (text: string): string =>
  encodeURI(text.slice(0, REASON_LENGTH).replaceAll(/\p{Surrogate}/gu, '\ufffd'))
    .replaceAll('%20', ' ')
    .trim();

function decode(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

/** The dead letter of a queue message, ready to be published. */
export function deadLetterOf(
  origin: { queue: string; durable: string },
  { message, storedAt }: { message: QueueMessage; storedAt: number },
  reason: string,
  now: number,
): QueueItem {
  const kept = Object.entries(message.headers).filter(
    ([name]) => !name.startsWith('Nats-') && !name.startsWith(PREFIX),
  );
  return {
    subject: deadSubject(origin.queue, origin.durable),
    body: message.body,
    headers: {
      ...Object.fromEntries(kept),
      [`${PREFIX}Stream`]: origin.queue,
      [`${PREFIX}Consumer`]: origin.durable,
      [`${PREFIX}Sequence`]: String(message.sequence),
      [`${PREFIX}Subject`]: message.subject,
      [`${PREFIX}Attempts`]: String(message.attempt),
      [`${PREFIX}Reason`]: encode(reason),
      [`${PREFIX}First`]: new Date(storedAt).toISOString(),
      [`${PREFIX}Last`]: new Date(now).toISOString(),
    },
  };
}

export interface StoredDeadLetter {
  message: { seq: number; hdrs?: string; data?: string };
}

/** Reads a dead letter as the stream keeps it. */
export function parseDeadLetter({ message }: StoredDeadLetter): DeadLetter {
  const all = parseHeaders(Buffer.from(message.hdrs ?? '', 'base64').toString('latin1'));
  const own = (name: string) => all[PREFIX + name] ?? '';
  return {
    sequence: message.seq,
    stream: own('Stream'),
    consumer: own('Consumer'),
    originSequence: Number(own('Sequence')),
    subject: own('Subject'),
    attempts: Number(own('Attempts')),
    reason: decode(own('Reason')),
    firstAt: Date.parse(own('First')),
    lastAt: Date.parse(own('Last')),
    headers: Object.fromEntries(
      Object.entries(all).filter(([name]) => !name.startsWith(PREFIX) && name !== MESSAGE_ID),
    ),
    body: Buffer.from(message.data ?? '', 'base64'),
  };
}
