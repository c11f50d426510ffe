import { writeFileSync } from 'node:fs';
import { ITERATIONS } from './catalogue';
import { Laboratory } from './laboratory';
import { machineFacts } from './machine';
import { measureLongRun, SHORT_STEPS } from './long-run';
import { measureMemory } from './memory';
import { HELP, parseOptions } from './options';
import type { DurabilityClass, RunsOptions } from './options';
import { measureRecovery } from './recovery';
import { report, reportTargets } from './report';
import { targetsOf } from './targets';
import type { Measured } from './targets';
import { measureThroughput } from './throughput';

/** `npm run bench -- runs`: what a run costs beside what the servers allow at most. */
export async function runsBenchmark(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  const machine = await machineFacts();
  console.log(`${Object.values(machine).join(', ')}\n`);
  const classes: Partial<Record<DurabilityClass, Measured>> = {};
  for (const durability of options.classes) {
    classes[durability] = await measure(durability, options);
    console.log(`\n${report(durability, classes[durability])}\n`);
  }
  const targets = Object.entries(classes).flatMap(([durability, measured]) =>
    targetsOf(durability as DurabilityClass, measured),
  );
  if (options.smoke) console.log('Everything works. A smoke run says nothing about speed.');
  else console.log(reportTargets(targets));
  const facts = { date: new Date().toISOString(), arguments: args, machine, classes, targets };
  if (options.json) writeFileSync(options.json, `${JSON.stringify(facts, null, 2)}\n`);
  return 0;
}

/** Recovery, long runs and memory do not depend on the disk, so they are measured in class A alone. */
async function measure(durability: DurabilityClass, options: RunsOptions): Promise<Measured> {
  const say = (line: string) => console.log(line);
  const wanted = (part: RunsOptions['parts'][number]) =>
    options.parts.includes(part) && (durability === 'A' || part === 'throughput');
  const measured: Measured = { rounds: [] };
  if (wanted('throughput') || wanted('long') || wanted('recovery')) {
    const laboratory = await Laboratory.open(durability, options, [
      ITERATIONS,
      SHORT_STEPS,
      options.longSteps,
    ]);
    try {
      await laboratory.startExecutors(options);
      if (wanted('throughput'))
        measured.rounds = await measureThroughput(laboratory, durability, options, say);
      if (wanted('long')) measured.long = await measureLongRun(laboratory, options, say);
      if (wanted('recovery')) measured.recovery = await measureRecovery(laboratory, options, say);
    } finally {
      await laboratory.close();
    }
  }
  if (wanted('memory')) measured.memory = await measureMemory(options, say);
  return measured;
}
