import type { Client } from 'pg';
import { escapeIdentifier, escapeLiteral } from 'pg';
import { applyConcerning } from './concerning';
import { openClient, rowsOf } from './connections';
import { toSafeInteger } from './integers';
import { copyRows, inSchema, makeScratch } from './scratch-tables';
import { switchRows } from './switch-rows';
import type { SwitchedTable } from './switch-rows';
import type { CommitSource, Projection, Tx } from './types';
import { commitsUpTo } from './whole-source';

/** A projection and its tables, as a rebuild needs them. */
export interface ReplayTarget {
  ownerUrl: string;
  schema: string;
  projection: Projection;
  tables: readonly string[];
  workTables?: readonly string[];
  lookupTables?: readonly string[];
}

/** How far a rebuild beside has come. */
export interface ReplayState {
  position: number;
  incarnation: string;
}

/** The rebuild is of another incarnation, version or beginning than what is asked for: drop it first. */
export class ReplayMismatch extends Error {}

const STATE = 'replay_state';

/** Schema of a rebuild beside: the rows may be looked at there meanwhile. */
export const replaySchemaOf = ({ schema, projection }: Pick<ReplayTarget, 'schema' | 'projection'>): string =>
  `replay_${schema}_${projection.name.replaceAll('-', '_')}`;

/**
 * A projection rebuilt in a schema beside its live one, in transactions of its own, and then switched over in one. Killed
 * at any moment it goes on where it was: how far it is moves in the transaction that applies the commits.
 */
export class ReplayBeside {
  private readonly tx: Tx;
  readonly schema: string;

  private constructor(
    private readonly client: Client,
    private readonly target: ReplayTarget,
  ) {
    this.tx = { query: (sql, params) => rowsOf(client, sql, params) };
    this.schema = replaySchemaOf(target);
  }

  static async open(target: ReplayTarget): Promise<ReplayBeside> {
    const client = await openClient({
      url: target.ownerUrl,
      applicationName: 'runyard replay',
      statementTimeoutMs: 0,
      waitMs: 10_000,
    });
    return new ReplayBeside(client, target);
  }

  close(): Promise<void> {
    return this.client.end();
  }

  /** Where an earlier attempt has come to; undefined: there is none. */
  async found(): Promise<ReplayState | undefined> {
    const [there] = await this.tx.query<{ there: string | null }>('SELECT to_regclass($1)::text AS there', [
      inSchema(this.schema, STATE),
    ]);
    if (!there?.there) return undefined;
    const [row] = await this.tx.query<{ version: number; incarnation: string; position: bigint }>(
      `SELECT version, incarnation, position FROM ${inSchema(this.schema, STATE)}`,
    );
    if (!row) return undefined;
    if (row.version !== this.target.projection.version)
      throw new ReplayMismatch(`${this.schema} is of version ${row.version}`);
    return { position: toSafeInteger(row.position), incarnation: row.incarnation };
  }

  /** Makes the tables beside, empty, at `after` of a stream. */
  async begin(incarnation: string, after: number): Promise<void> {
    const { schema, tables, workTables = [], lookupTables = [], projection } = this.target;
    await this.transaction(async () => {
      const all = [...tables, ...workTables, ...lookupTables];
      await makeScratch(this.tx, { schema, scratch: this.schema, tables: all });
      for (const table of lookupTables)
        await copyRows(this.tx, inSchema(schema, table), inSchema(this.schema, table));
      await this.tx.query(
        `CREATE TABLE ${inSchema(this.schema, STATE)} AS SELECT ${projection.version} AS version,
           ${escapeLiteral(incarnation)}::text AS incarnation, ${after}::int8 AS position`,
      );
    });
  }

  /** Applies what the source holds up to `until`; returns how far that is. */
  async run(
    source: CommitSource,
    until: number,
    signal: AbortSignal,
    onProgress?: (position: number) => void,
  ): Promise<number> {
    let { position } = (await this.found()) ?? { position: 0 };
    for await (const { commits, last } of commitsUpTo(source, position, until, signal)) {
      await this.transaction(() => this.apply(commits, last));
      position = last;
      onProgress?.(last);
    }
    return position;
  }

  /**
   * Puts the rebuilt rows in the place of the live ones, in one transaction: the checkpoint is held, what has come meanwhile
   * is applied, rows that differ are exchanged, and the checkpoint says how far the rows now are. Readers see the old rows
   * until then. Throws where the source ends before the live checkpoint of the same incarnation.
   */
  async switchOver(
    source: CommitSource,
    signal: AbortSignal,
  ): Promise<{ position: number; tables: SwitchedTable[] }> {
    const state = await this.found();
    if (!state) throw new ReplayMismatch(`${this.schema} is not there`);
    let { position } = state;
    let switched: SwitchedTable[] = [];
    await this.transaction(async () => {
      const live = await this.holdCheckpoint();
      const until = live?.incarnation === state.incarnation ? live.position : position;
      for await (const { commits, last } of commitsUpTo(source, position, until, signal)) {
        await this.apply(commits, last);
        position = last;
      }
      position = Math.max(position, until);
      const { schema, tables, workTables = [] } = this.target;
      switched = await switchRows(this.tx, { schema, scratch: this.schema, tables, workTables });
      await this.moveCheckpoint(state.incarnation, position);
      await this.tx.query(`DROP SCHEMA ${escapeIdentifier(this.schema)} CASCADE`);
    });
    return { position, tables: switched };
  }

  async drop(): Promise<void> {
    await this.tx.query(`DROP SCHEMA IF EXISTS ${escapeIdentifier(this.schema)} CASCADE`);
  }

  private async apply(commits: readonly Parameters<Projection['apply']>[1][number][], last: number) {
    await this.tx.query(`SET LOCAL search_path = ${escapeIdentifier(this.schema)}, public`);
    await applyConcerning(this.target.projection, this.tx, commits);
    await this.tx.query(`UPDATE ${inSchema(this.schema, STATE)} SET position = $1`, [last]);
  }

  private get checkpoints(): string {
    const { schema, projection } = this.target;
    return `${escapeIdentifier(projection.checkpointSchema ?? schema)}.projection_checkpoints`;
  }

  /** The live projector waits at this row until the switch is done. */
  private async holdCheckpoint(): Promise<ReplayState | undefined> {
    const { name, version, stream } = this.target.projection;
    const [row] = await this.tx.query<{ position: bigint; incarnation: string }>(
      `SELECT position, incarnation FROM ${this.checkpoints}
       WHERE projection = $1 AND version = $2 AND stream = $3 FOR UPDATE`,
      [name, version, stream],
    );
    return row && { position: toSafeInteger(row.position), incarnation: row.incarnation };
  }

  private async moveCheckpoint(incarnation: string, position: number): Promise<void> {
    const { name, version, stream } = this.target.projection;
    await this.tx.query(
      `INSERT INTO ${this.checkpoints} (projection, version, stream, incarnation, position) VALUES ($1, $2, $3, $4, $5)
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
