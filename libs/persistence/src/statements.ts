import { records } from './records';
import type { Tx } from './types';

/**
 * Statements that are sent one behind the other, without waiting for answers in between; they act in that order. Where one
 * fails, those after it do nothing, and {@link done} throws its error. The time that a statement may take counts from here.
 */
export class Statements {
  private readonly sent: Promise<unknown>[] = [];

  constructor(private readonly tx: Tx) {}

  /** Sends a statement with records as its first parameter; nothing to do is no statement. */
  add(statement: string, rows: readonly object[], ...more: unknown[]): void {
    if (rows.length > 0) this.send(statement, [records(rows), ...more]);
  }

  send(statement: string, params?: readonly unknown[]): void {
    const answer = this.tx.query(statement, params);
    // Whoever fails before `done` is told of that failure, not of this one.
    answer.catch(() => undefined);
    this.sent.push(answer);
  }

  /** Resolves when all of them have been carried out. */
  async done(): Promise<void> {
    await Promise.all(this.sent);
  }
}
