import { escapeIdentifier, escapeLiteral } from 'pg';
import { applyConcerning } from './concerning';
import { toSafeInteger } from './integers';
import { ReplaySession } from './replay-session';
import type { ReplayState } from './replay-session';
import { copyRows, inSchema, makeScratch } from './scratch-tables';
import { switchRows } from './switch-rows';
import type { SwitchedTable } from './switch-rows';
import type { CommitSource, Projection } from './types';
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
  readonly schema: string;

  private constructor(
    private readonly session: ReplaySession,
    private readonly target: ReplayTarget,
  ) {
    this.schema = replaySchemaOf(target);
  }

  static async open(target: ReplayTarget): Promise<ReplayBeside> {
    return new ReplayBeside(await ReplaySession.open(target, 'runyard replay'), target);
  }

  close(): Promise<void> {
    return this.session.close();
  }

  /** Where an earlier attempt has come to; undefined: there is none. */
  async found(): Promise<ReplayState | undefined> {
    const [there] = await this.session.tx.query<{ there: string | null }>(
      'SELECT to_regclass($1)::text AS there',
      [inSchema(this.schema, STATE)],
    );
    if (!there?.there) return undefined;
    const [row] = await this.session.tx.query<{ version: number; incarnation: string; position: bigint }>(
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
    await this.session.transaction(async () => {
      const all = [...tables, ...workTables, ...lookupTables];
      await makeScratch(this.session.tx, { schema, scratch: this.schema, tables: all });
      for (const table of lookupTables)
        await copyRows(this.session.tx, inSchema(schema, table), inSchema(this.schema, table));
      await this.session.tx.query(
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
      await this.session.transaction(() => this.apply(commits, last));
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
    await this.session.transaction(async () => {
      const live = await this.session.holdCheckpoint();
      const until = live?.incarnation === state.incarnation ? live.position : position;
      for await (const { commits, last } of commitsUpTo(source, position, until, signal)) {
        await this.apply(commits, last);
        position = last;
      }
      position = Math.max(position, until);
      const { schema, tables, workTables = [] } = this.target;
      switched = await switchRows(this.session.tx, { schema, scratch: this.schema, tables, workTables });
      await this.session.moveCheckpoint(state.incarnation, position);
      await this.session.tx.query(`DROP SCHEMA ${escapeIdentifier(this.schema)} CASCADE`);
    });
    return { position, tables: switched };
  }

  async drop(): Promise<void> {
    await this.session.tx.query(`DROP SCHEMA IF EXISTS ${escapeIdentifier(this.schema)} CASCADE`);
  }

  private async apply(commits: readonly Parameters<Projection['apply']>[1][number][], last: number) {
    await this.session.tx.query(`SET LOCAL search_path = ${escapeIdentifier(this.schema)}, public`);
    await applyConcerning(this.target.projection, this.session.tx, commits);
    await this.session.tx.query(`UPDATE ${inSchema(this.schema, STATE)} SET position = $1`, [last]);
  }
}
