import { parseArgs } from 'node:util';

export interface ControlsOptions {
  /** A: survives kill -9 of any process. B: survives power loss. */
  classes: ('A' | 'B')[];
  /** Decisions, and cancels, one at a time. */
  times: number;
  smoke: boolean;
  json: string | undefined;
}

export const HELP = `npm run bench -- controls [options]

How soon a run obeys people, over the HTTP API and with real connections to a tool and a model, one at a time: from a run's
start to the listing of what it asks, from the request that approves a call to its arrival at the tool, and from the request
that cancels a run to the end of its model call's connection. Beside them, a request that only reads. All services share a process.

  --class A|B   only this class: A survives kill -9 of any process, B survives power loss
  --times N     decisions, and cancels (default 200)
  --json FILE   writes everything that was measured
  --smoke       a version of seconds that shows that it works; its figures mean nothing
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

/** Parses the command line; undefined: help was asked for. Throws on what it does not know. */
export function parseOptions(args: string[]): ControlsOptions | undefined {
  const options = { class: text, times: text, json: text, smoke: flag, help: flag };
  const { values: v } = parseArgs({ args, options });
  if (v.help) return undefined;
  if (v.class !== undefined && v.class !== 'A' && v.class !== 'B') throw new Error('--class takes A or B');
  const times = v.times === undefined ? (v.smoke ? 5 : 200) : Number(v.times);
  if (!Number.isInteger(times) || times < 1) throw new Error('--times takes whole numbers from 1 on');
  return { classes: v.class === undefined ? ['A', 'B'] : [v.class], times, smoke: v.smoke, json: v.json };
}
