import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { Platform } from '../../deploy/local/platform';
import { throwawayFolder } from '../../deploy/local/throwaway';
import { passHatK } from './compare';
import { dataFolder } from './data.config';
import { Executors } from './executors';
import { startModelServer } from './model-server';
import { inParallel, replay } from './replay';
import type { DialogResult } from './replay';
import { AGENT, prepare } from './setting';
import { readSource } from './source';
import type { Source } from './source';

const TRIALS = 4;
/** Dialogs under way at once: enough to keep two cores busy. */
const WIDTH = 24;

/** Plays the recorded dialogs through the whole product and counts where its own record differs from the source. */
async function main(): Promise<number> {
  const data = dataFolder();
  if (!data) {
    console.error(
      'RUNYARD_DATA names no folder with tau-bench/; the README says where to get the recorded dialogs.',
    );
    return 2;
  }
  const chaos = process.argv.includes('--chaos');
  const source = readSource(data);
  const folder = throwawayFolder('tau');
  const model = await startModelServer(source.dialogs);
  const platform = await Platform.start({
    folder,
    durable: false,
    httpPort: 0,
    opsPort: null,
    logLevel: 'error',
    executor: null,
    ratePerMinute: 1_000_000,
  });
  // The recorded dialogs know no core tools, and this installation has no documents.
  const env = { ...platform.executorEnv(), RUNYARD_KNOWLEDGE: 'off' };
  const executors = new Executors(env, join(folder, 'executors.log'));
  try {
    const api = await prepare(platform, source, model.url);
    executors.start(2);
    let ended = 0;
    if (chaos) executors.killAtRandom(() => ended);
    const player = { api, agentId: AGENT, systemPrompt: source.systemPrompt, onRun: () => void (ended += 1) };
    const results = await inParallel(source.dialogs, WIDTH, (dialog) => replay(player, dialog));
    executors.endKilling();
    return report(source, results, chaos ? executors.kills : undefined);
  } finally {
    await executors.stop();
    await platform.stop();
    await model.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

function report(source: Source, results: DialogResult[], kills: number | undefined): number {
  const different = results.filter((result) => result.difference !== undefined);
  for (const { dialog, difference } of different.slice(0, 10)) console.error(`${dialog.name}: ${difference}`);
  const tasks = new Map<number, number>();
  for (const { dialog, difference } of results) {
    const counted = difference === undefined && dialog.source.reward === 1 ? 1 : 0;
    tasks.set(dialog.source.task_id, (tasks.get(dialog.source.task_id) ?? 0) + counted);
  }
  const sum = (of: (result: DialogResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const passes = [1, 2, 3, 4].map((k) => passHatK([...tasks.values()], TRIALS, k).toFixed(3));
  if (kills !== undefined) console.log(`kills ${kills}`);
  console.log(
    `tau: dialogs ${source.dialogs.length} runs ${sum((r) => r.runs)} turns ${sum((r) => r.turns)} calls ${sum((r) => r.calls)} ` +
      `divergences ${different.length} pass^1..4 ${passes.join(' ')}`,
  );
  return different.length === 0 ? 0 : 1;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
