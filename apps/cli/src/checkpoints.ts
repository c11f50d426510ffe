import { projectionLockKey } from '@runyard/persistence';
import type { Tx } from '@runyard/persistence';
import type { InstalledProjection } from './projections';

/** How far something that reads a stream has come. */
export interface StoredCheckpoint {
  schema: string;
  projection: string;
  version: number;
  stream: string;
  incarnation: string;
  position: number;
  updatedAt: string;
}

/** Schemas that hold checkpoints: one a service, and the archive's. */
const SCHEMAS = `
  SELECT n.nspname AS schema FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE c.relname = 'projection_checkpoints' AND c.relkind = 'r' ORDER BY 1`;

/** Every checkpoint of the installation: projections, reactions and the archive. */
export async function storedCheckpoints(tx: Tx): Promise<StoredCheckpoint[]> {
  const schemas = await tx.query<{ schema: string }>(SCHEMAS);
  if (schemas.length === 0) return [];
  const parts = schemas.map(
    ({ schema }) =>
      `SELECT '${schema}' AS schema, projection, version, stream, incarnation, position, updated_at FROM "${schema}".projection_checkpoints`,
  );
  const rows = await tx.query<Omit<StoredCheckpoint, 'updatedAt'> & { updated_at: Date }>(
    `${parts.join(' UNION ALL ')} ORDER BY stream, schema, projection, version`,
  );
  return rows.map(({ updated_at, ...row }) => ({
    ...row,
    position: Number(row.position),
    updatedAt: new Date(updated_at).toISOString(),
  }));
}

/** The newest version of each: what an older one left behind moves no more. */
export const newestOf = (checkpoints: readonly StoredCheckpoint[]): StoredCheckpoint[] =>
  checkpoints.filter(
    (one) =>
      !checkpoints.some(
        (other) =>
          other.schema === one.schema &&
          other.projection === one.projection &&
          other.stream === one.stream &&
          other.version > one.version,
      ),
  );

export async function checkpointOf(
  tx: Tx,
  { projection, schema }: InstalledProjection,
): Promise<StoredCheckpoint | undefined> {
  const { name, version, stream } = projection;
  return (await storedCheckpoints(tx)).find(
    (one) =>
      one.schema === schema && one.projection === name && one.version === version && one.stream === stream,
  );
}

export const hasRun = async (tx: Tx, entry: InstalledProjection): Promise<boolean> =>
  (await checkpointOf(tx, entry)) !== undefined;

/** Moves a reader's checkpoint back so that it reads again after `position`; returns how many were there to move. */
export async function sendBack(
  tx: Tx,
  projection: string,
  stream: string,
  position: number,
): Promise<number> {
  const found = (await storedCheckpoints(tx)).filter(
    (one) => one.projection === projection && one.stream === stream,
  );
  for (const one of found) {
    await tx.query(
      `UPDATE "${one.schema}".projection_checkpoints SET position = least(position, $3), updated_at = clock_timestamp()
       WHERE projection = $1 AND stream = $2`,
      [projection, stream, position],
    );
    await dismissRunner(tx, one);
  }
  return found.length;
}

const DISMISS = `
  SELECT pg_terminate_backend(l.pid) FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
  WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted AND ((l.classid::bigint << 32) | l.objid::bigint) = $1::bigint`;

/** Ends the connection on which a runner holds its lock: it starts again from the checkpoint within a quarter of a second. */
export async function dismissRunner(
  tx: Tx,
  {
    schema,
    projection,
    version,
    stream,
  }: Pick<StoredCheckpoint, 'schema' | 'projection' | 'version' | 'stream'>,
): Promise<void> {
  const key = projectionLockKey(schema, { name: projection, version, stream });
  await tx.query(DISMISS, [String(key)]);
}
