import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { connectEventLog, streamSource } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { PROJECTIONS } from '../../apps/cli/src/projections';
import { SERVICES } from '../../deploy/local/services';
import { startStack } from '../../deploy/local/stack';
import type { Stack } from '../../deploy/local/stack';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { machineFacts } from '../runs/machine';
import { projectLive } from './live-rows';
import { rebuildAll } from './rebuild';
import type { Rebuilt } from './rebuild';
import { writeRuns } from './sample-stream';

const HELP = `npm run bench -- replay [options]

Writes a log of runs, lets every projection read it, rebuilds each from stream and archive, and compares row for row.
Prints events per second beside a bare loop that only reads. Exit code 1: something differs.

  --events N     events in the log (default 1000000)
  --json FILE    writes everything that was measured
  --smoke        a version of seconds that shows that it works; its figures mean nothing
`;

interface Options {
  events: number;
  json?: string;
  smoke: boolean;
}

function parsed(args: string[]): Options | undefined {
  const text = { type: 'string' } as const;
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({ args, options: { events: text, json: text, smoke: flag, help: flag } });
  if (values.help) return undefined;
  const events = Number(values.events ?? (values.smoke ? 4_000 : 1_000_000));
  if (!Number.isInteger(events) || events < 1) throw new Error('--events takes whole numbers from 1 on');
  return { events, json: values.json, smoke: values.smoke };
}

/** `npm run bench -- replay`: what it costs to make all rows anew, and that they come out the same. */
export async function replayBenchmark(args: string[]): Promise<number> {
  const options = parsed(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const machine = await machineFacts();
  console.log(`${Object.values(machine).join(', ')}\n`);
  const folder = throwawayFolder('bench-replay');
  const stack = await startStack({ folder: join(folder, 'data'), durable: false, services: SERVICES });
  try {
    const bus = await connectEventLog({ servers: stack.natsUrl, name: 'bench replay' });
    try {
      const measured = await measure(options, stack, bus);
      const facts = { date: new Date().toISOString(), arguments: args, machine, ...measured };
      if (options.json) writeFileSync(options.json, `${JSON.stringify(facts, null, 2)}\n`);
      if (options.smoke) console.log('Everything works. A smoke run says nothing about speed.');
      return measured.rebuilt.every(({ equal }) => equal) ? 0 : 1;
    } finally {
      await bus.close();
    }
  } finally {
    await stack.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Measured {
  events: number;
  commits: number;
  bareEventsPerSecond: number;
  liveEventsPerSecond: number;
  rebuilt: Rebuilt[];
}

async function measure(
  { events: wanted }: Options,
  stack: Stack,
  bus: EventLogConnection,
): Promise<Measured> {
  const { events, commits } = await writeRuns(bus, wanted);
  console.log(`${events} events in ${commits} commits`);
  const perSecond = (ms: number): number => Math.round((events * 1_000) / ms);
  const bare = perSecond(await bareLoop(bus, commits));
  say('a bare loop that reads the stream', bare);
  const live = perSecond(await projectLive(PROJECTIONS, stack, bus.log));
  say('every projection and the archive, live and side by side', live);
  const rebuilt: Rebuilt[] = [];
  for await (const one of rebuildAll(PROJECTIONS, stack, bus.log)) {
    rebuilt.push(one);
    const verdict = one.equal ? `equal, ${one.rows} rows` : 'DIFFERENT';
    if (one.milliseconds > 0)
      say(`rebuild of ${one.projection} from ${one.source}: ${verdict}`, perSecond(one.milliseconds));
  }
  return { events, commits, bareEventsPerSecond: bare, liveEventsPerSecond: live, rebuilt };
}

const say = (what: string, eventsPerSecond: number): void =>
  console.log(`${what.padEnd(64)} ${String(eventsPerSecond).padStart(9)} events/s`);

/** Milliseconds to read the whole stream and do nothing. */
async function bareLoop({ log }: EventLogConnection, commits: number): Promise<number> {
  const stop = new AbortController();
  const startedAt = performance.now();
  let seen = 0;
  for await (const batch of streamSource(log, 'RUNS').readBatches(0, stop.signal)) {
    seen += batch.length;
    if (seen >= commits) break;
  }
  const milliseconds = performance.now() - startedAt;
  stop.abort();
  return milliseconds;
}
