import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The folder of recorded data that `RUNYARD_DATA` names; undefined where it does not hold the dialogs. */
export function dataFolder(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const folder = env.RUNYARD_DATA;
  return folder && existsSync(join(folder, 'tau-bench', 'gpt-4o-airline.json')) ? folder : undefined;
}

/** Whether the airline's own data lie in the folder, too. */
export const hasAirline = (folder: string): boolean =>
  existsSync(join(folder, 'tau-bench', 'flights.at-7362a17.json'));

/** What a child process needs of the environment beside its own configuration. */
export const childEnv = (env: NodeJS.ProcessEnv = process.env): Record<string, string> =>
  Object.fromEntries(['PATH', 'HOME', 'TMPDIR'].flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
