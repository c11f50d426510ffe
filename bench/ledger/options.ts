import { parseArgs } from 'node:util';

export interface LedgerOptions {
  /** A: survives kill -9 of any process. B: survives power loss. */
  classes: ('A' | 'B')[];
  /** Reservations a round. */
  reservations: number;
  rounds: number;
  /** Calls under way at once. */
  concurrency: number;
  smoke: boolean;
  json: string | undefined;
}

export const HELP = `npm run bench -- ledger [options]

Reservations a second through the budget ledger (request over the bus, decision, commit, answer): all of one owner, and of
1,000 owners in turn, beside a bare client that publishes to JetStream as often at once. Ledger and client share a process.

  --class A|B        only this class: A survives kill -9 of any process, B survives power loss
  --reservations N   a round (default 20000)
  --rounds N         rounds of each kind, in turn (default 3)
  --concurrency N    calls under way at once (default 256)
  --json FILE        writes everything that was measured
  --smoke            a version of seconds that shows that it works; its figures mean nothing
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

/** Parses the command line; undefined: help was asked for. Throws on what it does not know. */
export function parseOptions(args: string[]): LedgerOptions | undefined {
  const { values: v } = parseArgs({
    args,
    options: {
      class: text,
      reservations: text,
      rounds: text,
      concurrency: text,
      json: text,
      smoke: flag,
      help: flag,
    },
  });
  if (v.help) return undefined;
  if (v.class !== undefined && v.class !== 'A' && v.class !== 'B') throw new Error('--class takes A or B');
  return {
    classes: v.class === undefined ? ['A', 'B'] : [v.class],
    reservations: whole('reservations', v.reservations, v.smoke ? 500 : 20_000),
    rounds: whole('rounds', v.rounds, v.smoke ? 1 : 3),
    concurrency: whole('concurrency', v.concurrency, 256),
    smoke: v.smoke,
    json: v.json,
  };
}

function whole(name: string, value: string | undefined, preset: number): number {
  if (value === undefined) return preset;
  const number = Number(value);
  if (!Number.isInteger(number) || number < 1) throw new Error(`--${name} takes whole numbers from 1 on`);
  return number;
}
