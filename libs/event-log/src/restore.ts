import { randomUUID } from 'node:crypto';
import type { MsgHdrs, NatsConnection } from '@nats-io/transport-node';
import { headers as newHeaders } from '@nats-io/transport-node';
import { Exchange } from './exchange';
import { INCARNATION } from './history';
import { ApiError, CODES, ask, parseAnswer } from './stream-api';
import type { StreamDefinition } from './streams';

/** A commit as the archive keeps it. */
export interface ArchivedCommit {
  sequence: number;
  subject: string;
  headers: Record<string, string>;
  body: Uint8Array;
}

/** The stream is not one that may be restored: it is there and holds something. */
export class RestoreRefused extends Error {}

export interface Restored {
  /** The new incarnation: cursors of the old one mean nothing any more (P9.3). */
  incarnation: string;
  messages: number;
  lastSequence: number;
}

const PATIENCE = { tryMs: 5_000, limitMs: 30_000 };
const TRY_MS = 10_000;
/** Messages under way at once; they arrive in the order in which they are sent. */
const IN_FLIGHT = 256;

/**
 * Rebuilds a lost stream from a copy, every commit at its own sequence (P9.3). Until all are there the stream listens to
 * subjects of its own, so that nobody else can append in between; a message that would land at another sequence is refused
 * by the server and ends the restoration. Sequences that the copy does not hold (erased ones) are filled and emptied again.
 */
export async function restoreStream(
  connection: NatsConnection,
  definition: StreamDefinition,
  copy: { commits: AsyncIterable<readonly ArchivedCommit[]>; lastSequence: number },
  onProgress: (sequence: number) => void = () => undefined,
): Promise<Restored> {
  const exchange = new Exchange(connection);
  try {
    await removeEmpty(exchange, definition.name);
    const incarnation = randomUUID();
    await create(exchange, definition, incarnation);
    const restoring = new Restoring(exchange, definition.name, onProgress);
    for await (const batch of copy.commits) for (const commit of batch) await restoring.add(commit);
    await restoring.fillTo(copy.lastSequence);
    const messages = await restoring.finish();
    await open(exchange, definition, incarnation);
    return { incarnation, messages, lastSequence: copy.lastSequence };
  } finally {
    exchange.close();
  }
}

interface Info {
  config: Record<string, unknown> & { metadata?: Record<string, string> };
  state: { messages: number; last_seq: number };
}

const RESTORING = 'runyard_restoring';

/** An empty one was made by a start after the loss; a half restored one by an attempt that was interrupted. */
async function removeEmpty(exchange: Exchange, name: string): Promise<void> {
  try {
    const { state, config } = await ask<Info>(exchange, `STREAM.INFO.${name}`, '', PATIENCE);
    if (state.last_seq > 0 && !config.metadata?.[RESTORING])
      throw new RestoreRefused(
        `The stream ${name} is there and ends at ${state.last_seq}; only a lost or empty one is restored`,
      );
    await ask(exchange, `STREAM.DELETE.${name}`, '', PATIENCE);
  } catch (error) {
    if (!(error instanceof ApiError && error.code === CODES.streamNotFound)) throw error;
  }
}

const doorOf = (name: string): string => `runyard-restoring.${name}`;

async function create(exchange: Exchange, definition: StreamDefinition, incarnation: string): Promise<void> {
  const config = {
    ...definition,
    subjects: [`${doorOf(definition.name)}.>`],
    subject_transform: { src: `${doorOf(definition.name)}.>`, dest: '>' },
    metadata: { [INCARNATION]: incarnation, [RESTORING]: 'yes' },
  };
  await ask(exchange, `STREAM.CREATE.${definition.name}`, JSON.stringify(config), PATIENCE);
}

async function open(exchange: Exchange, definition: StreamDefinition, incarnation: string): Promise<void> {
  const config = { ...definition, metadata: { [INCARNATION]: incarnation } };
  await ask(exchange, `STREAM.UPDATE.${definition.name}`, JSON.stringify(config), PATIENCE);
}

class Restoring {
  private last = 0;
  private messages = 0;
  private readonly fillers: number[] = [];
  private readonly underWay: Promise<void>[] = [];

  constructor(
    private readonly exchange: Exchange,
    private readonly name: string,
    private readonly onProgress: (sequence: number) => void,
  ) {}

  async add(commit: ArchivedCommit): Promise<void> {
    await this.fillTo(commit.sequence - 1);
    const kept = Object.entries(commit.headers).filter(([name]) => !name.startsWith('Nats-Expected-'));
    await this.send(commit.subject, commit.body, kept);
    this.messages += 1;
  }

  async fillTo(sequence: number): Promise<void> {
    while (this.last < sequence) {
      this.fillers.push(this.last + 1);
      await this.send('runyard.erased', new Uint8Array(), []);
    }
  }

  /** Waits for everything and empties what was filled. */
  async finish(): Promise<number> {
    await this.settled();
    for (const seq of this.fillers)
      await ask(this.exchange, `STREAM.MSG.DELETE.${this.name}`, JSON.stringify({ seq }), PATIENCE);
    return this.messages;
  }

  private async send(subject: string, body: Uint8Array, headers: [string, string][]): Promise<void> {
    const expected = this.last;
    this.last += 1;
    this.underWay.push(
      this.store(`${doorOf(this.name)}.${subject}`, body, headersOf(headers, expected), this.last),
    );
    if (this.underWay.length >= IN_FLIGHT) await this.settled();
  }

  private async store(subject: string, body: Uint8Array, headers: MsgHdrs, sequence: number): Promise<void> {
    const { seq } = parseAnswer<{ seq: number }>(await this.exchange.request(subject, body, TRY_MS, headers));
    if (seq !== sequence) throw new RestoreRefused(`${this.name} took ${sequence} as ${seq}`);
  }

  private async settled(): Promise<void> {
    await Promise.all(this.underWay.splice(0));
    this.onProgress(this.last);
  }
}

function headersOf(kept: readonly [string, string][], expected: number): MsgHdrs {
  const headers = newHeaders();
  for (const [name, value] of kept) headers.set(name, value);
  headers.set('Nats-Expected-Last-Sequence', String(expected));
  return headers;
}
