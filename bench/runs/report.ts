import { median } from './statistics';
import { shareOfLoop, timesBareChain } from './targets';
import type { Measured, Target } from './targets';
import type { ProcessorMs, Round } from './throughput';
import type { DurabilityClass } from './options';

const number = (value: number): string => {
  if (!Number.isFinite(value)) return '–';
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
};

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join('  ');
  return rows.map(line).join('\n');
}

const CLASSES: Readonly<Record<DurabilityClass, string>> = {
  A: 'Class A: survives kill -9 of any process (JetStream default sync, Postgres without fsync)',
  B: 'Class B: survives power loss (JetStream sync_interval always, Postgres with fsync)',
};

const LINES: readonly [label: string, of: (round: Round) => number][] = [
  ['runs/s', (round) => round.runsPerSecond],
  ['runs/s until rows had caught up', (round) => round.sustainedPerSecond],
  ['run p50, ms', (round) => round.p50],
  ['run p99, ms', (round) => round.p99],
  ['sent to first step p50, ms', (round) => round.firstStepAfterSent],
  ['accepted to first step p50, ms', (round) => round.firstStepAfterAccepted],
  ['bare chains/s', (round) => round.chainsPerSecond],
  ['bare chain p50, ms', (round) => round.chainP50],
  ['a run beside the bare chain, x', timesBareChain],
  ['bare work queue, x20 messages/s', (round) => round.loopsPerSecond ?? Number.NaN],
  ['share of the bare work queue', shareOfLoop],
  ['rows behind at the end, commits', (round) => round.lag],
  ['rows caught up after, ms', (round) => round.catchUpMs],
  ['processor a run, ms', (round) => sum(round.processor)],
  ['  executors', (round) => round.processor.executors],
  ['  projector', (round) => round.processor.projector],
  ['  nats-server', (round) => round.processor.nats],
  ['  postgres', (round) => round.processor.postgres],
  ['  requester, registry, gateway', (round) => round.processor.requester],
  ['processor taken by others, %', (round) => round.othersShare * 100],
];

const sum = (processor: ProcessorMs): number => Object.values(processor).reduce((total, ms) => total + ms, 0);

/** The table of one class: a column a concurrency, each figure the median of the rounds. */
export function report(durability: DurabilityClass, measured: Measured): string {
  const { rounds } = measured;
  const concurrencies = [...new Set(rounds.map(({ concurrency }) => concurrency))];
  const cell = (of: (round: Round) => number) => (concurrency: number) =>
    number(median(rounds.filter((round) => round.concurrency === concurrency).map(of)));
  const lines = LINES.map(([label, of]) => [label, ...concurrencies.map(cell(of))]);
  const shown = lines.filter(([, ...cells]) => cells.some((each) => each !== '–'));
  const head = ['runs under way at once', ...concurrencies.map(String)];
  return [CLASSES[durability], rounds.length > 0 ? table([head, ...shown]) : '', rest(measured)]
    .filter((part) => part !== '')
    .join('\n\n');
}

function rest({ recovery, long, memory }: Measured): string {
  const lines: string[] = [];
  if (recovery)
    lines.push(
      `recovery: ${recovery.kills} kills, ${recovery.takenOver} runs taken over, p50 ${number(recovery.p50)} s, worst ${number(recovery.worst)} s; ` +
        `a tool that must not be repeated was interrupted ${recovery.interrupted} times and called ${recovery.called} times`,
    );
  if (long)
    lines.push(
      `long run: ${long.steps} steps, ${number(long.lastMs)} ms a step at its end, ${number(long.shortMs)} ms in runs of 20 (x ${number(long.ratio)}); ` +
        `executor ${number(long.longProcessorMs)} ms a step, ${number(long.shortProcessorMs)} ms in runs of 20; page of steps p50 ${number(long.pageP50)} ms, p99 ${number(long.pageP99)} ms`,
    );
  if (memory)
    lines.push(
      `memory of all services in one process: ${number(memory.startMb)} MB at the start, ${number(memory.endMb)} MB after ${memory.runs} runs ` +
        `(peak ${number(memory.peakMb)} MB), ${number(memory.growthMbPerThousand)} MB a thousand runs in the second half`,
    );
  return lines.join('\n');
}

export function reportTargets(targets: readonly Target[]): string {
  const line = ({ durability, name, value, unit, most, least, met }: Target) => [
    `${durability}  ${name}`,
    `${number(value)} ${unit}`,
    most === undefined ? `at least ${least}` : `at most ${most}`,
    met ? 'met' : 'MISSED',
  ];
  return table([['Targets', 'measured', 'wanted', ''], ...targets.map(line)]);
}
