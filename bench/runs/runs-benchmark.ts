import { ITERATIONS } from './catalogue';
import { Laboratory } from './laboratory';
import { HELP, parseOptions } from './options';
import { measureThroughput } from './throughput';

/** `npm run bench -- runs`: what a run costs beside what the servers allow at most. */
export async function runsBenchmark(args: string[]): Promise<number> {
  const options = parseOptions(args);
  if (!options) {
    console.log(HELP);
    return 0;
  }
  for (const durability of options.classes) {
    const laboratory = await Laboratory.open(durability, options, [ITERATIONS, 20, options.longSteps]);
    try {
      await laboratory.startExecutors(options);
      const rounds = await measureThroughput(laboratory, durability, options, (line) => console.log(line));
      for (const r of rounds)
        console.log(JSON.stringify(r, (_k, v) => (typeof v === 'number' ? Math.round(v * 100) / 100 : v)));
    } finally {
      await laboratory.close();
    }
  }
  return 0;
}
