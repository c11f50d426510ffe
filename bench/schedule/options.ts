import { parseArgs } from 'node:util';

export interface ScheduleOptions {
  agents: number;
  schedulers: number;
  /** Survives power loss; otherwise kill -9 of any process. */
  durable: boolean;
  smoke: boolean;
  json: string | undefined;
}

export const HELP = `npm run bench -- schedule [options]

Agents whose slots fall on the same instant, and schedulers that share them: how late each run request lies on the queue.

  --agents N      agents that are due together (default 10000)
  --schedulers N  schedulers on one database (default 1)
  --class A|B     A survives kill -9 of any process (default), B power loss
  --json FILE     writes everything that was measured
  --smoke         a version of seconds that shows that it works; its figures mean nothing
`;

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;

/** Parses the command line; undefined: help was asked for. Throws on what it does not know. */
export function parseOptions(args: string[]): ScheduleOptions | undefined {
  const options = { agents: text, schedulers: text, class: text, json: text, smoke: flag, help: flag };
  const { values: v } = parseArgs({ args, options });
  if (v.help) return undefined;
  if (v.class !== undefined && v.class !== 'A' && v.class !== 'B') throw new Error('--class takes A, B');
  return {
    agents: whole('agents', v.agents, v.smoke ? 200 : 10_000),
    schedulers: whole('schedulers', v.schedulers, 1),
    durable: v.class === 'B',
    smoke: v.smoke,
    json: v.json,
  };
}

function whole(name: string, given: string | undefined, preset: number): number {
  const value = given === undefined ? preset : Number(given);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers from 1 on`);
  return value;
}
