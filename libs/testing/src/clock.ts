export interface FixedClock {
  /** Epoch ms; stands still until it is moved. */
  now(): number;
  advance(ms: number): void;
  set(time: number | string): void;
}

/** A clock that moves only when it is told to. Default: a Monday noon, UTC. */
export function fixedClock(start: number | string = '2026-11-30T12:00:00Z'): FixedClock {
  const parse = (time: number | string) => (typeof time === 'number' ? time : Date.parse(time));
  let time = parse(start);
  return {
    now: () => time,
    advance: (ms) => void (time += ms),
    set: (to) => void (time = parse(to)),
  };
}

/** Processor time that this process has used, milliseconds: bounds on it hold on a busy machine too. */
export function processorMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
