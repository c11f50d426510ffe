import { writeFileSync } from 'node:fs';
import { percentile } from '../runs/statistics';
import { HELP, parseOptions } from './options';
import type { ScheduleOptions } from './options';
import { Timetable } from './timetable';

/** 10,000 agents that are due in the same minute: all requests are out within this. */
const WITHIN_MS = 20_000;

interface Measured {
  /** Until every agent had its next slot, from the start of the schedulers; milliseconds. */
  planMs: number;
  /** Requests on the queue, and the slots that they name: more of the former are resends. */
  requests: number;
  slots: number;
  /** How late requests lay on the queue; milliseconds. */
  lag: { p50: number; p99: number; last: number };
}

/** `npm run bench -- schedule`: how late runs start when all of them are due at once. */
export async function scheduleBenchmark(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const measured = await measure(options);
  const { lag, requests, slots, planMs } = measured;
  const seconds = (ms: number) => `${(ms / 1_000).toFixed(2)} s`;
  const good = slots === options.agents && lag.last <= WITHIN_MS;
  console.log(
    [
      `class ${options.durable ? 'B: survives power loss' : 'A: survives kill -9 of any process'}`,
      `${options.agents} agents due at once, ${options.schedulers} scheduler(s)`,
      `planned            ${seconds(planMs)}`,
      `requests, slots    ${requests}, ${slots}`,
      `lag p50            ${seconds(lag.p50)}`,
      `lag p99            ${seconds(lag.p99)}`,
      `lag of the last    ${seconds(lag.last)}  (at most ${seconds(WITHIN_MS)}: ${good ? 'yes' : 'NO'})`,
    ].join('\n'),
  );
  if (options.smoke) console.log('A smoke run says nothing about speed.');
  const facts = { date: new Date().toISOString(), arguments: args, options, ...measured };
  if (options.json) writeFileSync(options.json, `${JSON.stringify(facts, null, 2)}\n`);
  return good ? 0 : 1;
}

async function measure(options: ScheduleOptions): Promise<Measured> {
  const timetable = await Timetable.open(options);
  try {
    await timetable.fill(options.agents);
    const planMs = await timetable.plan(options);
    const { lags, distinct } = await timetable.fire(options.agents);
    const lag = { p50: percentile(lags, 0.5), p99: percentile(lags, 0.99), last: Math.max(...lags) };
    return { planMs, requests: lags.length, slots: distinct, lag };
  } finally {
    await timetable.close();
  }
}
