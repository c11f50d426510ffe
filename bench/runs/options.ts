import { parseArgs } from 'node:util';

export type DurabilityClass = 'A' | 'B';
export const PARTS = ['throughput', 'recovery', 'long', 'memory'] as const;
export type Part = (typeof PARTS)[number];

export interface RunsOptions {
  classes: DurabilityClass[];
  parts: Part[];
  rounds: number;
  concurrencies: number[];
  /** Runs a round at a concurrency. */
  runsAt(concurrency: number): number;
  /** Runs before the first round: code is compiled as it gets hot, and connections open. */
  warmUp: number;
  executors: number;
  /** True: rows are kept by a process of their own, executors only drive. */
  projector: boolean;
  kills: number;
  longSteps: number;
  longRepeats: number;
  memoryRuns: number;
  smoke: boolean;
  json: string | undefined;
  /** Folder for profiles of the executors. */
  profile: string | undefined;
}

export const HELP = `npm run bench -- runs [options]

A run of 10 iterations (20 commits, 200 B arguments, 1 KB results, instant recorded model) through the whole product,
beside bare clients on the same servers, in turn. Prints a table of each class:
  A  survives kill -9 of any process (JetStream's default sync, Postgres without fsync)
  B  survives power loss (JetStream sync_interval always, Postgres with fsync)

  --class A|B        only this class
  --parts LIST       out of ${PARTS.join(',')} (default: all; all but throughput belong to class A)
  --rounds N         rounds of throughput (default 5)
  --concurrency LIST runs under way at once (default 1,8,64)
  --runs N           runs a round at the highest concurrency; others in proportion (default 1280)
  --executors N      executor processes (default 1)
  --projector        a process of its own keeps the rows; executors only drive
  --kills N          executors killed in recovery (default 10)
  --steps N          steps of the long run (default 2000)
  --memory-runs N    runs of the all-in-one process (default 10000)
  --json FILE        writes everything that was measured
  --profile DIR      executors write CPU profiles there
  --smoke            a version of seconds that shows that it works; its figures mean nothing
`;

const SMOKE = { rounds: 1, runs: 32, warmUp: 20, kills: 1, steps: 60, memoryRuns: 100, longRepeats: 1 };
const FULL = {
  rounds: 5,
  runs: 1_280,
  warmUp: 1_000,
  kills: 10,
  steps: 2_000,
  memoryRuns: 10_000,
  longRepeats: 3,
};

const text = { type: 'string' } as const;
const flag = { type: 'boolean', default: false } as const;
const FLAGS = {
  class: text,
  parts: text,
  rounds: text,
  concurrency: text,
  runs: text,
  executors: text,
  kills: text,
  steps: text,
  'memory-runs': text,
  json: text,
  profile: text,
  projector: flag,
  smoke: flag,
  help: flag,
} as const;

/** Parses the command line; undefined: help was asked for. Throws on what it does not know. */
export function parseOptions(args: string[]): RunsOptions | undefined {
  const { values: v } = parseArgs({
    args,
    options: FLAGS,
  });
  if (v.help) return undefined;
  const preset = v.smoke ? SMOKE : FULL;
  const concurrencies = (v.concurrency ?? '1,8,64').split(',').map((each) => whole('concurrency', each));
  const runs = whole('runs', v.runs, preset.runs);
  return {
    classes: v.class === undefined ? ['A', 'B'] : [oneOf('class', v.class, ['A', 'B'])],
    parts: v.parts === undefined ? [...PARTS] : v.parts.split(',').map((part) => oneOf('parts', part, PARTS)),
    rounds: whole('rounds', v.rounds, preset.rounds),
    concurrencies,
    runsAt: (concurrency) => (concurrency >= 32 ? runs : Math.ceil(runs / (concurrency >= 4 ? 4 : 16))),
    warmUp: preset.warmUp,
    executors: whole('executors', v.executors, 1),
    projector: v.projector,
    kills: whole('kills', v.kills, preset.kills),
    longSteps: whole('steps', v.steps, preset.steps),
    longRepeats: preset.longRepeats,
    memoryRuns: whole('memory-runs', v['memory-runs'], preset.memoryRuns),
    smoke: v.smoke,
    json: v.json,
    profile: v.profile,
  };
}

function whole(name: string, text: string | undefined, preset = 0): number {
  if (text === undefined) return preset;
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} takes whole numbers from 1 on`);
  return value;
}

function oneOf<T extends string>(name: string, text: string, choices: readonly T[]): T {
  const choice = choices.find((each) => each === text);
  if (choice === undefined) throw new Error(`--${name} takes ${choices.join(', ')}`);
  return choice;
}
