import { dataFolder } from '../tau-bench/data.config';
import { readSource } from '../tau-bench/source';
import { startAirline } from './server';
import { newWorld, readLibrary } from './world';

/** `npm run airline`: the airline by itself, one world for whoever calls. */
async function main(): Promise<void> {
  const data = dataFolder();
  if (!data) throw new Error('RUNYARD_DATA names no folder with tau-bench/; see the README of this example');
  const world = newWorld(readLibrary(data));
  const port = Number(process.argv[2] ?? 8_900);
  const airline = await startAirline({ schemas: readSource(data).tools, worldOf: () => world, port });
  console.log(`The airline answers at ${airline.url}; Ctrl-C stops it.`);
}

main().catch((error: unknown) => {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
});
