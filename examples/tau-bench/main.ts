import { passHatK } from './compare';
import { dataFolder } from './data.config';
import { inParallel, replay } from './replay';
import type { DialogResult } from './replay';
import { AGENT } from './setting';
import { readSource } from './source';
import type { Source } from './source';
import { Stage } from './stage';
import { HELP, wishesOf } from './wishes';

const TRIALS = 4;
/** Dialogs under way at once: enough to keep two cores busy. */
const WIDTH = 24;

/** Plays the recorded dialogs through the whole product and counts where its own record differs from the source. */
async function main(): Promise<number> {
  const wished = wishesOf(process.argv.slice(2));
  if (!wished) {
    console.log(HELP);
    return 0;
  }
  const data = dataFolder();
  if (!data) {
    console.error(
      'RUNYARD_DATA names no folder with tau-bench/; the README says where to get the recorded dialogs.',
    );
    return 2;
  }
  const source = partOf(readSource(data), wished.part);
  const stage = await Stage.set(data, source, wished);
  try {
    const results = await playAll(stage, source, wished.chaos);
    return await report(stage, results, wished.chaos);
  } finally {
    await stage.strike();
  }
}

const partOf = (source: Source, part: number): Source => ({
  ...source,
  dialogs: source.dialogs.filter((dialog) => dialog.source.task_id % part === 0),
});

async function playAll({ api, executors }: Stage, source: Source, chaos: boolean): Promise<DialogResult[]> {
  executors.start(2);
  let ended = 0;
  if (chaos) executors.killAtRandom(() => ended);
  const player = { api, agentId: AGENT, systemPrompt: source.systemPrompt, onRun: () => void (ended += 1) };
  const results = await inParallel(source.dialogs, WIDTH, (dialog) => replay(player, dialog));
  executors.endKilling();
  return results;
}

/** What the dialogs, the live tools and the reviewers have to say. */
async function report(
  { live, reviewers, executors }: Stage,
  results: DialogResult[],
  chaos: boolean,
): Promise<number> {
  const audited = await reviewers?.report();
  const changed = audited?.changed ?? new Set<string>();
  for (const fault of audited?.faults.slice(0, 10) ?? []) console.error(fault);
  const plain = results.filter(({ dialog, refused }) => refused || !changed.has(dialog.name));
  const different = plain.filter(({ difference }) => difference !== undefined);
  for (const { dialog, difference } of different.slice(0, 10)) console.error(`${dialog.name}: ${difference}`);
  if (chaos) console.log(`kills ${executors.kills}`);
  console.log(lineOf(results, different.length, changed.size));
  const summaries = [live?.summary(changed), audited];
  for (const summary of summaries) if (summary) console.log(summary.text);
  return different.length === 0 && summaries.every((summary) => summary?.good ?? true) ? 0 : 1;
}

function lineOf(results: readonly DialogResult[], divergences: number, changed: number): string {
  const sum = (of: (result: DialogResult) => number) =>
    results.reduce((total, result) => total + of(result), 0);
  const counts = `tau: dialogs ${results.length} runs ${sum((r) => r.runs)} turns ${sum((r) => r.turns)} calls ${sum((r) => r.calls)}`;
  if (changed > 0) return `${counts} changed by people ${changed} divergences of the others ${divergences}`;
  const tasks = new Map<number, number>();
  for (const { dialog, difference } of results) {
    const counted = difference === undefined && dialog.source.reward === 1 ? 1 : 0;
    tasks.set(dialog.source.task_id, (tasks.get(dialog.source.task_id) ?? 0) + counted);
  }
  const passes = [1, 2, 3, 4].map((k) => passHatK([...tasks.values()], TRIALS, k).toFixed(3));
  return `${counts} divergences ${divergences} pass^1..4 ${passes.join(' ')}`;
}

// By default a signal ends this process alone, and those that it started go on.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
