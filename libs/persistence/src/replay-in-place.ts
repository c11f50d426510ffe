import type { Client } from 'pg';
import { escapeIdentifier } from 'pg';
import { applyConcerning } from './concerning';
import { openClient, rowsOf } from './connections';
import { pause, projectionLockKey } from './projection-lock';
import type { ReplayTarget } from './replay';
import { inSchema } from './scratch-tables';
import type { CommitSource, Tx } from './types';
import { commitsUpTo } from './whole-source';

const DISMISS = `
  SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`;
const LOOK_MS = 20;

/**
 * A projection replayed onto its live tables by who holds its lock meanwhile. Readers see what has come so far. Killed at
 * any moment, the service's own projector goes on from where this one was, because the checkpoint is the live one.
 */
export class ReplayInPlace {
  private readonly tx: Tx;

  private constructor(
    private readonly client: Client,
    private readonly target: ReplayTarget,
  ) {
    this.tx = { query: (sql, params) => rowsOf(client, sql, params) };
  }

  /** Takes the projection's lock from its projector, which stands by until `close`. */
  static async open(target: ReplayTarget, signal: AbortSignal): Promise<ReplayInPlace> {
    const client = await openClient({
      url: target.ownerUrl,
      applicationName: 'runyard replay in place',
      statementTimeoutMs: 0,
      waitMs: 10_000,
    });
    const replay = new ReplayInPlace(client, target);
    try {
      await replay.takeLock(signal);
      return replay;
    } catch (error) {
      await client.end();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** Empties the tables and goes back to the beginning. */
  async empty(incarnation: string): Promise<void> {
    const { schema, tables } = this.target;
    await this.transaction(async () => {
      await this.tx.query('SET LOCAL session_replication_role = replica');
      for (const table of tables) await this.tx.query(`DELETE FROM ${inSchema(schema, table)}`);
      await this.move(incarnation, 0);
    });
  }

  /** Goes back to `position` and leaves the rows as they are: what comes after it is applied to them once more. */
  async rewind(incarnation: string, position: number): Promise<void> {
    await this.transaction(() => this.move(incarnation, position));
  }

  async run(
    source: CommitSource,
    incarnation: string,
    range: { after: number; until: number },
    signal: AbortSignal,
    onProgress?: (position: number) => void,
  ): Promise<void> {
    const { schema, projection } = this.target;
    for await (const { commits, last } of commitsUpTo(source, range.after, range.until, signal)) {
      await this.transaction(async () => {
        await this.tx.query(`SET LOCAL search_path = ${escapeIdentifier(schema)}, public`);
        await applyConcerning(projection, this.tx, commits);
        await this.move(incarnation, last);
      });
      onProgress?.(last);
    }
  }

  private async takeLock(signal: AbortSignal): Promise<void> {
    const { projection, schema } = this.target;
    const key = projectionLockKey(projection.checkpointSchema ?? schema, projection);
    for (;;) {
      const [row] = await this.tx.query<{ held: boolean }>('SELECT pg_try_advisory_lock($1) AS held', [key]);
      if (row?.held) return;
      await this.tx.query(DISMISS, [key]);
      await pause(LOOK_MS, signal);
      signal.throwIfAborted();
    }
  }

  private async move(incarnation: string, position: number): Promise<void> {
    const { schema, projection } = this.target;
    const { name, version, stream } = projection;
    await this.tx.query(
      `INSERT INTO ${inSchema(projection.checkpointSchema ?? schema, 'projection_checkpoints')}
         (projection, version, stream, incarnation, position) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (projection, version, stream)
       DO UPDATE SET incarnation = excluded.incarnation, position = excluded.position, updated_at = clock_timestamp()`,
      [name, version, stream, incarnation, position],
    );
  }

  private async transaction(work: () => Promise<unknown>): Promise<void> {
    await this.tx.query('BEGIN');
    try {
      await work();
      await this.tx.query('COMMIT');
    } catch (error) {
      await this.tx.query('ROLLBACK').catch(() => undefined);
      throw error;
    }
  }
}
