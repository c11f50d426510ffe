import { parseArgs } from 'node:util';

export const HELP = `npm start [-- options]

  --processes     every service as a process of its own, as in production
  --once          end with exit code 0 after the first run
  --port N        port of the HTTP API (default 8080, or a free one where that is taken; 0: a free one)
  --folder DIR    where data and keys lie (default .runyard)
  --help          this text
`;

/** What was asked for cannot be understood; the message says what. */
export class WrongArguments extends Error {}

export interface StartArguments {
  processes: boolean;
  once: boolean;
  help: boolean;
  /** 0: any free one. */
  port: number;
  folder: string | undefined;
}

const LAST_PORT = 65_535;

/** Reads the arguments of `npm start`. Throws WrongArguments. */
export function startArguments(args: readonly string[]): StartArguments {
  const { processes = false, once = false, help = false, port = '8080', folder } = valuesOf(args);
  if (!/^\d{1,5}$/.test(port) || Number(port) > LAST_PORT)
    throw new WrongArguments(`--port must be a whole number from 0 to ${LAST_PORT}, not "${port}"`);
  return { processes, once, help, port: Number(port), folder };
}

function valuesOf(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        processes: { type: 'boolean' },
        once: { type: 'boolean' },
        port: { type: 'string' },
        folder: { type: 'string' },
        help: { type: 'boolean' },
      },
    }).values;
  } catch (error) {
    throw new WrongArguments((error as Error).message.split('. ')[0]);
  }
}
