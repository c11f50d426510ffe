import type { Client } from 'pg';
import { openClient, rowsOf } from './connections';
import { toSafeInteger } from './integers';
import type { ReplayTarget } from './replay';
import { inSchema } from './scratch-tables';
import type { Tx } from './types';

/** How far rows are in a stream. */
export interface ReplayState {
  position: number;
  incarnation: string;
}

/** The owner's connection of one replay: its transactions, and the live checkpoint of its projection. */
export class ReplaySession {
  readonly tx: Tx;

  private constructor(
    private readonly client: Client,
    private readonly target: ReplayTarget,
  ) {
    this.tx = { query: (sql, params) => rowsOf(client, sql, params) };
  }

  static async open(target: ReplayTarget, applicationName: string): Promise<ReplaySession> {
    const client = await openClient({
      url: target.ownerUrl,
      applicationName,
      statementTimeoutMs: 0,
      waitMs: 10_000,
    });
    return new ReplaySession(client, target);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** All of `work`, or nothing of it where it throws. */
  async transaction(work: () => Promise<unknown>): Promise<void> {
    await this.tx.query('BEGIN');
    try {
      await work();
      await this.tx.query('COMMIT');
    } catch (error) {
      await this.tx.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }

  /** The live checkpoint, held until the transaction ends: the live projector waits at this row. */
  async holdCheckpoint(): Promise<ReplayState | undefined> {
    const { name, version, stream } = this.target.projection;
    const [row] = await this.tx.query<{ position: bigint; incarnation: string }>(
      `SELECT position, incarnation FROM ${this.checkpoints}
       WHERE projection = $1 AND version = $2 AND stream = $3 FOR UPDATE`,
      [name, version, stream],
    );
    return row && { position: toSafeInteger(row.position), incarnation: row.incarnation };
  }

  async moveCheckpoint(incarnation: string, position: number): Promise<void> {
    const { name, version, stream } = this.target.projection;
    await this.tx.query(
      `INSERT INTO ${this.checkpoints} (projection, version, stream, incarnation, position) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (projection, version, stream)
       DO UPDATE SET incarnation = excluded.incarnation, position = excluded.position, updated_at = clock_timestamp()`,
      [name, version, stream, incarnation, position],
    );
  }

  private get checkpoints(): string {
    const { schema, projection } = this.target;
    return inSchema(projection.checkpointSchema ?? schema, 'projection_checkpoints');
  }
}
