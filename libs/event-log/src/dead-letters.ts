import { DEAD_STREAM, Problem, deadSubject } from '@runyard/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import { MESSAGE_ID } from './commit';
import { Exchange } from './exchange';
import { parseHeaders } from './history';
import type { QueueItem } from './publish';
import { publishItem } from './publish';
import { ApiError, CODES, ask } from './stream-api';
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
const PATIENCE = { tryMs: 2_000, limitMs: 10_000 };
const REASON_LENGTH = 1_000;

/** Header values travel as one line of ASCII; everything else is escaped, so that no reason can break the message. */
const encode = (text: string): string => encodeURI(text.slice(0, REASON_LENGTH).replaceAll(/\p{Surrogate}/gu, '\ufffd')).replaceAll('%20', ' ').trim();

function decode(text: string): string {
  try {
    return decodeURI(text);
  } catch {
    return text;
  }
}

/** The dead letter of a queue message, ready to be published. */
export function deadLetterOf(
  origin: { queue: string; durable: string; storedAt: number },
  message: QueueMessage,
  reason: string,
  now: number,
): QueueItem {
  const kept = Object.entries(message.headers).filter(([name]) => !name.startsWith('Nats-') && !name.startsWith(PREFIX));
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
      [`${PREFIX}First`]: new Date(origin.storedAt).toISOString(),
      [`${PREFIX}Last`]: new Date(now).toISOString(),
    },
  };
}

interface StoredMessage {
  message: { seq: number; hdrs?: string; data?: string };
}

function parseDeadLetter({ message }: StoredMessage): DeadLetter {
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
    headers: Object.fromEntries(Object.entries(all).filter(([name]) => !name.startsWith(PREFIX) && name !== MESSAGE_ID)),
    body: Buffer.from(message.data ?? '', 'base64'),
  };
}

/** What an operator does with dead letters. */
export interface DeadLetters {
  /** Dead letters with sequence > after, oldest first. */
  list(options?: { after?: number; limit?: number }): Promise<DeadLetter[]>;
  get(sequence: number): Promise<DeadLetter | undefined>;
  /**
   * Puts the original message back on its queue under a new message id, then takes the dead letter away. A crash between
   * the two leaves both, which handlers have to bear anyway. Throws a Problem `not_found`.
   */
  retry(sequence: number): Promise<{ sequence: number }>;
  /** Erases it. Throws a Problem `not_found`. */
  drop(sequence: number): Promise<void>;
  close(): void;
}

const notFound = (sequence: number) => new Problem('not_found', `There is no dead letter ${sequence}`);

export function deadLetters(connection: NatsConnection): DeadLetters {
  const exchange = new Exchange(connection);
  const fetch = async (query: object): Promise<DeadLetter | undefined> => {
    try {
      return parseDeadLetter(await ask(exchange, `STREAM.MSG.GET.${DEAD_STREAM}`, JSON.stringify(query), PATIENCE));
    } catch (error) {
      if (error instanceof ApiError && error.code === CODES.noMessageFound) return undefined;
      throw error;
    }
  };
  const get = (sequence: number) => fetch({ seq: sequence });
  const drop = async (sequence: number) => {
    if (!(await get(sequence))) throw notFound(sequence);
    await ask(exchange, `STREAM.MSG.DELETE.${DEAD_STREAM}`, JSON.stringify({ seq: sequence, no_erase: false }), PATIENCE);
  };
  return {
    get,
    drop,
    async list({ after = 0, limit = 100 } = {}) {
      const found: DeadLetter[] = [];
      for (let from = after + 1; found.length < limit; ) {
        const next = await fetch({ seq: from, next_by_subj: 'runyard.dead.>' });
        if (!next) break;
        found.push(next);
        from = next.sequence + 1;
      }
      return found;
    },
    async retry(sequence) {
      const letter = await get(sequence);
      if (!letter) throw notFound(sequence);
      const stored = await publishItem(exchange, { subject: letter.subject, body: letter.body, headers: letter.headers }, PATIENCE);
      await drop(sequence);
      return stored;
    },
    close: () => exchange.close(),
  };
}
