import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { CommandFailed } from './terminal';

/** What the command line reads of the connection file that `npm start` writes; it may hold more. */
const connectionSchema = z.looseObject({
  api_url: z.string().optional(),
  nats_url: z.string().optional(),
  /** The owner's: it sees past row-level security. */
  database_url: z.string().optional(),
  ops_url: z.string().optional(),
  org_id: z.string().optional(),
  keys: z.record(z.string(), z.string()).optional(),
});
export type Connection = z.output<typeof connectionSchema> & { api_key?: string };

type Env = Readonly<Record<string, string | undefined>>;

const DEFAULT_FILE = '.runyard/connection.json';
/** From `dist/apps/cli/src` and from `apps/cli/src` alike: the checkout that this command belongs to. */
const ROOTS = [process.cwd(), resolve(__dirname, '../../..'), resolve(__dirname, '../../../..')];

function fileOf(asked: string | undefined): string | undefined {
  if (asked !== undefined && !existsSync(asked))
    throw new CommandFailed(`There is no connection file ${asked}`);
  return asked ?? ROOTS.map((root) => join(root, DEFAULT_FILE)).find(existsSync);
}

function parsed(file: string): Connection {
  try {
    return connectionSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    // The file holds passwords: say where it is, never what is in it.
    throw new CommandFailed(
      `The connection file ${file} is not readable JSON of the form that "npm start" writes`,
    );
  }
}

/**
 * Where to connect: RUNYARD_DATABASE_URL, RUNYARD_NATS_URL, RUNYARD_API_URL and RUNYARD_API_KEY, else the connection file
 * (`asked`, RUNYARD_CONNECTION, `.runyard/connection.json` here or in the checkout). Throws CommandFailed.
 */
export function readConnection(asked?: string, env: Env = process.env): Connection {
  const file = fileOf(asked ?? env.RUNYARD_CONNECTION);
  const connection = file === undefined ? {} : parsed(file);
  return {
    ...connection,
    database_url: env.RUNYARD_DATABASE_URL ?? connection.database_url,
    nats_url: env.RUNYARD_NATS_URL ?? connection.nats_url,
    api_url: env.RUNYARD_API_URL ?? connection.api_url,
    api_key: env.RUNYARD_API_KEY ?? connection.keys?.admin,
  };
}

/** The named entry, or CommandFailed that says how to give it. */
export function required(
  connection: Connection,
  name: 'database_url' | 'nats_url' | 'api_url' | 'api_key',
): string {
  const value = connection[name];
  if (value) return value;
  throw new CommandFailed(
    `No ${name} is known: start Runyard here ("npm start"), name a file with --connection, or set RUNYARD_${name.toUpperCase()}`,
  );
}

/** Colours are wanted unless NO_COLOR says otherwise (no-color.org). */
export const coloursWanted = (env: Env = process.env): boolean => !env.NO_COLOR;
