import { DEAD_STREAM, Problem } from '@runyard/contracts';
import type { NatsConnection } from '@nats-io/transport-node';
import type { DeadLetter, StoredDeadLetter } from './dead-letter';
import { parseDeadLetter } from './dead-letter';
import { Exchange } from './exchange';
import { publishItem } from './publish';
import { ApiError, CODES, ask } from './stream-api';

const PATIENCE = { tryMs: 2_000, limitMs: 10_000 };

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
  return new StoredDeadLetters(new Exchange(connection));
}

class StoredDeadLetters implements DeadLetters {
  constructor(private readonly exchange: Exchange) {}

  get(sequence: number): Promise<DeadLetter | undefined> {
    return this.fetch({ seq: sequence });
  }

  async list({ after = 0, limit = 100 }: { after?: number; limit?: number } = {}): Promise<DeadLetter[]> {
    const found: DeadLetter[] = [];
    let from = after + 1;
    while (found.length < limit) {
      const next = await this.fetch({ seq: from, next_by_subj: 'runyard.dead.>' });
      if (!next) break;
      found.push(next);
      from = next.sequence + 1;
    }
    return found;
  }

  async retry(sequence: number): Promise<{ sequence: number }> {
    const letter = await this.get(sequence);
    if (!letter) throw notFound(sequence);
    const stored = await publishItem(this.exchange, letter, PATIENCE);
    await this.drop(sequence);
    return stored;
  }

  async drop(sequence: number): Promise<void> {
    if (!(await this.get(sequence))) throw notFound(sequence);
    const erase = JSON.stringify({ seq: sequence, no_erase: false });
    await ask(this.exchange, `STREAM.MSG.DELETE.${DEAD_STREAM}`, erase, PATIENCE);
  }

  close(): void {
    this.exchange.close();
  }

  private async fetch(query: object): Promise<DeadLetter | undefined> {
    const subject = `STREAM.MSG.GET.${DEAD_STREAM}`;
    try {
      return parseDeadLetter(
        await ask<StoredDeadLetter>(this.exchange, subject, JSON.stringify(query), PATIENCE),
      );
    } catch (error) {
      if (error instanceof ApiError && error.code === CODES.noMessageFound) return undefined;
      throw error;
    }
  }
}
