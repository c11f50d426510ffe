import { agentOf } from './catalogue';
import type { Laboratory } from './laboratory';
import type { RunsOptions } from './options';
import { processorMs } from './processor-time';
import { median, percentile } from './statistics';

/** Turns of the run that a long one is compared with. */
export const SHORT_STEPS = 20;
/** Short runs before and after each long one, so that both meet the same machine. */
const SHORT_RUNS = 20;
/** The end of the long run that is looked at; at most half of it. */
const LAST_STEPS = 200;
const PAGE = 50;

export interface LongRun {
  steps: number;
  /** Milliseconds a step: of short runs, and of the last steps of the long one; medians over the repetitions. */
  shortMs: number;
  lastMs: number;
  ratio: number;
  /** Processor milliseconds of the executors a step: of short runs, and of the whole long one. */
  shortProcessorMs: number;
  longProcessorMs: number;
  /** Milliseconds to read a page of its steps over HTTP. */
  pageP50: number;
  pageP99: number;
  pages: number;
}

/** Whether the two-thousandth step costs what the twentieth does, and how long its steps take to read. */
export async function measureLongRun(
  laboratory: Laboratory,
  { longSteps, longRepeats }: RunsOptions,
  say: (line: string) => void,
): Promise<LongRun> {
  const short: Cost[] = [];
  const long: Cost[] = [];
  const pages: number[] = [];
  await shortRuns(laboratory);
  for (let i = 1; i <= longRepeats; i++) {
    short.push(await shortRuns(laboratory));
    const one = await longRun(laboratory, longSteps);
    long.push(one);
    short.push(await shortRuns(laboratory));
    await laboratory.caughtUp();
    pages.push(...(await readPages(laboratory, one.runId, longSteps)));
    say(
      `  long run ${i}: ${one.ms.toFixed(2)} ms a step at its end, ${short.at(-1)?.ms.toFixed(2)} ms in short runs`,
    );
  }
  const of = (costs: readonly Cost[], what: 'ms' | 'processorMs') => median(costs.map((cost) => cost[what]));
  return {
    steps: longSteps,
    shortMs: of(short, 'ms'),
    lastMs: of(long, 'ms'),
    ratio: median(
      long.map(({ ms }, i) => ms / (((short[2 * i]?.ms ?? 0) + (short[2 * i + 1]?.ms ?? 0)) / 2)),
    ),
    shortProcessorMs: of(short, 'processorMs'),
    longProcessorMs: of(long, 'processorMs'),
    pageP50: percentile(pages, 0.5),
    pageP99: percentile(pages, 0.99),
    pages: pages.length,
  };
}

interface Cost {
  ms: number;
  processorMs: number;
}

const executorsMs = ({ executors }: Laboratory): number =>
  executors.drivers.reduce((sum, pid) => sum + processorMs(pid), 0);

async function shortRuns(laboratory: Laboratory): Promise<Cost> {
  const used = executorsMs(laboratory);
  const times: number[] = [];
  for (let i = 0; i < SHORT_RUNS; i++) {
    const { commitsAt } = await laboratory.requester.run(agentOf(SHORT_STEPS), 2 * SHORT_STEPS);
    times.push(((commitsAt.at(-1) ?? 0) - (commitsAt[0] ?? 0)) / (SHORT_STEPS - 0.5));
  }
  const processor = (executorsMs(laboratory) - used) / (SHORT_RUNS * SHORT_STEPS);
  return { ms: median(times), processorMs: processor };
}

async function longRun(laboratory: Laboratory, steps: number): Promise<Cost & { runId: string }> {
  const used = executorsMs(laboratory);
  const { runId, commitsAt } = await laboratory.requester.run(agentOf(steps), 2 * steps);
  const last = Math.min(LAST_STEPS, Math.floor(steps / 2));
  const ms = ((commitsAt.at(-1) ?? 0) - (commitsAt.at(-1 - 2 * last) ?? 0)) / last;
  return { runId, ms, processorMs: (executorsMs(laboratory) - used) / steps };
}

/** Milliseconds of each page, from the first to the last. */
async function readPages({ api }: Laboratory, runId: string, steps: number): Promise<number[]> {
  const times: number[] = [];
  let rows = 0;
  for (let after: number | null = 0; after !== null;) {
    const startedAt = performance.now();
    const path: string = `/v1/runs/${runId}/steps?after=${after}&limit=${PAGE}`;
    const page: { data: unknown[]; next_after: number | null } = await api.call('GET', path);
    times.push(performance.now() - startedAt);
    rows += page.data.length;
    after = page.next_after;
  }
  if (rows !== 2 * steps - 1) throw new Error(`the pages hold ${rows} steps instead of ${2 * steps - 1}`);
  return times;
}
