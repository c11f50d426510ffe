import { controlsBenchmark } from './controls/controls-benchmark';
import { ledgerBenchmark } from './ledger/ledger-benchmark';
import { replayBenchmark } from './replay/replay-benchmark';
import { runsBenchmark } from './runs/runs-benchmark';
import { scheduleBenchmark } from './schedule/schedule-benchmark';

/** Every benchmark by its name: what it shows, and how it is run. */
const BENCHMARKS: Readonly<Record<string, { shows: string; run(args: string[]): Promise<number> }>> = {
  runs: {
    shows: 'runs of an agent beside what the servers allow at most; `npm run bench -- runs --help`',
    run: runsBenchmark,
  },
  ledger: {
    shows:
      'reservations of one owner and of 1,000 beside a bare publish loop; `npm run bench -- ledger --help`',
    run: ledgerBenchmark,
  },
  controls: {
    shows: 'how soon a run obeys a decision and a cancel; `npm run bench -- controls --help`',
    run: controlsBenchmark,
  },
  replay: {
    shows: 'all projections made anew from the log and compared; `npm run bench -- replay --help`',
    run: replayBenchmark,
  },
  schedule: {
    shows: 'how late runs start when thousands of agents are due at once; `npm run bench -- schedule --help`',
    run: scheduleBenchmark,
  },
};

async function main([name, ...args]: string[]): Promise<number> {
  const benchmark = name === undefined ? undefined : BENCHMARKS[name];
  if (benchmark) return benchmark.run(args);
  console.log('npm run bench -- <name> [options]\n');
  for (const [each, { shows }] of Object.entries(BENCHMARKS)) console.log(`  ${each.padEnd(10)}${shows}`);
  return name === undefined ? 0 : 2;
}

// By default a signal ends this process alone, and those that it started go on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
