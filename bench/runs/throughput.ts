import { agentOf, COMMITS, ITERATIONS } from './catalogue';
import type { Laboratory } from './laboratory';
import type { DurabilityClass, RunsOptions } from './options';
import { machineMs, processorMs } from './processor-time';
import { firstStepAt } from './requester';
import { median, percentile } from './statistics';

const BARE_BYTES = 1_024;
/** A bare chain is cheaper than a run; as many of them would take too short a time to be measured. */
const BARE_FACTOR = 2;

export interface ProcessorMs {
  /** Drives runs, and keeps the rows too where no projector does. */
  executors: number;
  projector: number;
  nats: number;
  postgres: number;
  /** This process: it asks for runs and watches them, and hosts registry and gateway. */
  requester: number;
}

/** One round of the product at one concurrency, beside the bare clients. */
export interface Round {
  concurrency: number;
  runs: number;
  runsPerSecond: number;
  p50: number;
  p99: number;
  firstStepAfterSent: number;
  firstStepAfterAccepted: number;
  /** Commits that the rows were behind when the last run ended, and milliseconds until they had caught up. */
  lag: number;
  catchUpMs: number;
  /** Runs a second until the rows had caught up. */
  sustainedPerSecond: number;
  /** Processor time a run, until the rows had caught up. */
  processor: ProcessorMs;
  /** Share of the machine that processes other than these took meanwhile: what makes times longer than they are. */
  othersShare: number;
  chainsPerSecond: number;
  chainP50: number;
  loopsPerSecond: number | null;
}

/** Rounds of every concurrency in turn, so that what else goes on on the machine meets all alike. */
export async function measureThroughput(
  laboratory: Laboratory,
  durability: DurabilityClass,
  options: RunsOptions,
  say: (line: string) => void,
): Promise<Round[]> {
  const rounds: Round[] = [];
  await laboratory.requester.runs(agentOf(ITERATIONS), COMMITS, options.warmUp, 32);
  await laboratory.caughtUp();
  for (let round = 1; round <= options.rounds; round++)
    for (const concurrency of options.concurrencies) {
      const runs = options.runsAt(concurrency);
      const product = await productRound(laboratory, concurrency, runs);
      const bare = await bareRound(laboratory, durability, concurrency, runs);
      rounds.push({ ...product, ...bare });
      say(
        `  round ${round}, concurrency ${concurrency}: ${product.runsPerSecond.toFixed(1)} runs/s, ${bare.chainsPerSecond.toFixed(1)} bare chains/s`,
      );
    }
  return rounds;
}

async function productRound(laboratory: Laboratory, concurrency: number, runs: number) {
  const { requester, rows } = laboratory;
  const before = await rows.succeeded();
  const first = await requester.lastSequence();
  const use = processorUse(laboratory);
  const startedAt = performance.now();
  const ended = await requester.runs(agentOf(ITERATIONS), COMMITS, runs, concurrency);
  const seconds = (performance.now() - startedAt) / 1_000;
  const last = await requester.lastSequence();
  const lag = last - (await rows.position());
  const catchUpMs = await rows.reach(last);
  const used = use(runs);
  await verify(laboratory, runs, before, last - first);
  const latencies = ended.map((run) => run.endedAt - run.sentAt);
  return {
    concurrency,
    runs,
    runsPerSecond: runs / seconds,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
    firstStepAfterSent: median(ended.map((run) => firstStepAt(run) - run.sentAt)),
    firstStepAfterAccepted: median(ended.map((run) => firstStepAt(run) - run.acceptedAt)),
    lag,
    catchUpMs,
    sustainedPerSecond: runs / (seconds + catchUpMs / 1_000),
    ...used,
  };
}

/** Fast and wrong is not fast: every run has ended well, with all of its commits and rows. */
async function verify(
  { rows }: Laboratory,
  runs: number,
  before: Awaited<ReturnType<Laboratory['rows']['succeeded']>>,
  appended: number,
): Promise<void> {
  const after = await rows.succeeded();
  const facts: [what: string, is: number, expected: number][] = [
    ['commits in the log', appended, runs * COMMITS],
    ['commits in the archive', after.commits - before.commits, runs * COMMITS],
    ['rows of runs that succeeded', after.runs - before.runs, runs],
    ['rows of steps', after.steps - before.steps, runs * (2 * ITERATIONS - 1)],
  ];
  for (const [what, is, expected] of facts)
    if (is !== expected) throw new Error(`${what}: ${is} instead of ${expected}`);
}

/** Starts to count; what it returns tells what was used since, by the product a run and by others of the machine. */
function processorUse(laboratory: Laboratory): (runs: number) => Pick<Round, 'processor' | 'othersShare'> {
  const before = processorTimes(laboratory);
  const machineBefore = machineMs();
  return (runs) => {
    const after = processorTimes(laboratory);
    const machine = machineMs();
    const used = (of: keyof ProcessorMs) => after[of] - before[of];
    const own = PROCESSES.reduce((sum, process) => sum + used(process), 0);
    const others = Math.max(0, machine.busy - machineBefore.busy - own) / (machine.all - machineBefore.all);
    const [executors = 0, projector = 0, nats = 0, postgres = 0, requester = 0] = PROCESSES.map(
      (process) => used(process) / runs,
    );
    return { processor: { executors, projector, nats, postgres, requester }, othersShare: others };
  };
}

const PROCESSES = ['executors', 'projector', 'nats', 'postgres', 'requester'] as const;
const sumOf = (pids: readonly number[]): number => pids.reduce((sum, pid) => sum + processorMs(pid), 0);

function processorTimes({ executors, platform }: Laboratory): ProcessorMs {
  const { nats = 0, postgres = 0 } = platform.stack.pids;
  return {
    executors: sumOf(executors.drivers),
    projector: sumOf([...executors.projectors]),
    nats: processorMs(nats),
    postgres: processorMs(postgres, true),
    requester: processorMs(process.pid),
  };
}

async function bareRound(
  { bare }: Laboratory,
  durability: DurabilityClass,
  concurrency: number,
  runs: number,
) {
  const task = { messages: COMMITS, bytes: BARE_BYTES, runs: runs * BARE_FACTOR, concurrency };
  const chain = await bare.perform({ kind: 'chain', ...task });
  // The work queue is the limit of class B alone: there every message costs a sync of the disk.
  const loop = durability === 'B' ? await bare.perform({ kind: 'loop', ...task, runs }) : null;
  return {
    chainsPerSecond: task.runs / (chain.milliseconds / 1_000),
    chainP50: percentile(chain.latencies, 0.5),
    loopsPerSecond: loop && runs / (loop.milliseconds / 1_000),
  };
}
