import type { LongRun } from './long-run';
import type { Memory } from './memory';
import type { DurabilityClass } from './options';
import type { Recovery } from './recovery';
import { median } from './statistics';
import type { Round } from './throughput';

/** What was measured of one class. */
export interface Measured {
  rounds: Round[];
  recovery?: Recovery;
  long?: LongRun;
  memory?: Memory;
}

/** What Runyard promises of its speed; `most` or `least` is what the value may be. */
interface Promised {
  durability: DurabilityClass;
  name: string;
  unit: string;
  most?: number;
  least?: number;
  /** Undefined: it was not measured. */
  value(measured: Measured): number | undefined;
}

export type Target = Omit<Promised, 'value'> & { value: number; met: boolean };

/** How many times longer runs take than bare chains of as many messages. */
export const timesBareChain = (round: Round): number => round.chainsPerSecond / round.runsPerSecond;
/** Runs for each bare loop of as many messages through a work queue. */
export const shareOfLoop = (round: Round): number =>
  round.runsPerSecond / (round.loopsPerSecond ?? Number.NaN);

const at =
  (concurrency: number, of: (round: Round) => number) =>
  ({ rounds }: Measured): number | undefined => {
    const values = rounds.filter((round) => round.concurrency === concurrency).map(of);
    return values.length === 0 ? undefined : median(values);
  };

const oneStep = ({ long }: Measured) => long?.ratio;

const PROMISED: readonly Promised[] = [
  {
    durability: 'A',
    name: 'a run beside the bare chain, one at a time',
    unit: 'x',
    most: 2.5,
    value: at(1, timesBareChain),
  },
  {
    durability: 'A',
    name: 'sent to first step, p50, one at a time',
    unit: 'ms',
    most: 10,
    value: at(1, (r) => r.firstStepAfterSent),
  },
  {
    durability: 'A',
    name: 'runs a second, 64 at a time',
    unit: '/s',
    least: 250,
    value: at(64, (r) => r.runsPerSecond),
  },
  {
    durability: 'A',
    name: 'kill -9 to continued, p50',
    unit: 's',
    most: 1,
    value: ({ recovery }) => recovery?.p50,
  },
  {
    durability: 'A',
    name: 'calls of an interrupted tool',
    unit: 'x',
    most: 1,
    value: ({ recovery: r }) => r && r.called / r.interrupted,
  },
  { durability: 'A', name: 'a step of a long run beside one of 20', unit: 'x', most: 1.25, value: oneStep },
  { durability: 'A', name: 'a page of steps, p50', unit: 'ms', most: 50, value: ({ long }) => long?.pageP50 },
  {
    durability: 'A',
    name: 'memory of all services after the runs',
    unit: 'MB',
    most: 250,
    value: ({ memory }) => memory?.endMb,
  },
  {
    durability: 'B',
    name: 'share of a bare work queue, one at a time',
    unit: 'x',
    least: 0.7,
    value: at(1, shareOfLoop),
  },
  {
    durability: 'B',
    name: 'share of a bare work queue, 64 at a time',
    unit: 'x',
    least: 0.7,
    value: at(64, shareOfLoop),
  },
];

/** What is promised of a class, and whether this measurement keeps it. */
export const targetsOf = (durability: DurabilityClass, measured: Measured): Target[] =>
  PROMISED.flatMap((promised) => {
    const value = promised.durability === durability ? promised.value(measured) : undefined;
    const { most = Infinity, least = -Infinity } = promised;
    return value === undefined ? [] : [{ ...promised, value, met: value <= most && value >= least }];
  });
