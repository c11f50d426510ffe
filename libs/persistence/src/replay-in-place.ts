import { escapeIdentifier } from 'pg';
import { applyConcerning } from './concerning';
import { pause, projectionLockKey } from './projection-lock';
import type { ReplayTarget } from './replay';
import { ReplaySession } from './replay-session';
import { inSchema } from './scratch-tables';
import type { CommitSource } from './types';
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
  private constructor(
    private readonly session: ReplaySession,
    private readonly target: ReplayTarget,
  ) {}

  /** Takes the projection's lock from its projector, which stands by until `close`. */
  static async open(target: ReplayTarget, signal: AbortSignal): Promise<ReplayInPlace> {
    const session = await ReplaySession.open(target, 'runyard replay in place');
    const replay = new ReplayInPlace(session, target);
    try {
      await replay.takeLock(signal);
      return replay;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.session.close();
  }

  /** Empties the tables and goes back to the beginning. */
  async empty(incarnation: string): Promise<void> {
    const { schema, tables } = this.target;
    await this.session.transaction(async () => {
      await this.session.tx.query('SET LOCAL session_replication_role = replica');
      for (const table of tables) await this.session.tx.query(`DELETE FROM ${inSchema(schema, table)}`);
      await this.session.moveCheckpoint(incarnation, 0);
    });
  }

  /** Goes back to `position` and leaves the rows as they are: what comes after it is applied to them once more. */
  async rewind(incarnation: string, position: number): Promise<void> {
    await this.session.transaction(() => this.session.moveCheckpoint(incarnation, position));
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
      await this.session.transaction(async () => {
        await this.session.tx.query(`SET LOCAL search_path = ${escapeIdentifier(schema)}, public`);
        await applyConcerning(projection, this.session.tx, commits);
        await this.session.moveCheckpoint(incarnation, last);
      });
      onProgress?.(last);
    }
  }

  private async takeLock(signal: AbortSignal): Promise<void> {
    const { projection, schema } = this.target;
    const key = projectionLockKey(projection.checkpointSchema ?? schema, projection);
    for (;;) {
      const [row] = await this.session.tx.query<{ held: boolean }>(
        'SELECT pg_try_advisory_lock($1) AS held',
        [key],
      );
      if (row?.held) return;
      await this.session.tx.query(DISMISS, [key]);
      await pause(LOOK_MS, signal);
      signal.throwIfAborted();
    }
  }
}
