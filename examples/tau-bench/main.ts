import { passHatK } from './compare';
import { dataFolder } from './data.config';
import { inParallel, replay } from './replay';
import type { DialogResult } from './replay';
import { AGENT } from './setting';
import { readSource } from './source';
import type { Source } from './source';
import { Stage } from './stage';

const TRIALS = 4;
/** Dialogs under way at once: enough to keep two cores busy. */
const WIDTH = 24;

/**
 * Plays the recorded dialogs through the whole product and counts where its own record differs from the source. `--live`: on
 * tools that keep what they are told; `--approvals` (with them): each write needs a decision; `--chaos`: executors are killed meanwhile.
 */
async function main(): Promise<number> {
  const data = dataFolder();
  if (!data) {
    console.error(
      'RUNYARD_DATA names no folder with tau-bench/; the README says where to get the recorded dialogs.',
    );
    return 2;
  }
  const wishes = new Set(process.argv);
  const approvals = wishes.has('--approvals');
  const source = readSource(data);
  const stage = await Stage.set(data, source, { live: approvals || wishes.has('--live'), approvals });
  try {
    const results = await playAll(stage, source, wishes.has('--chaos'));
    const kills = wishes.has('--chaos') ? stage.executors.kills : undefined;
    return Math.max(report(source, results, kills), reportLive(stage));
  } finally {
    await stage.strike();
  }
}

async function playAll({ api, executors }: Stage, source: Source, chaos: boolean): Promise<DialogResult[]> {
  executors.start(2);
  let ended = 0;
  if (chaos) executors.killAtRandom(() => ended);
  const player = { api, agentId: AGENT, systemPrompt: source.systemPrompt, onRun: () => void (ended += 1) };
  const results = await inParallel(source.dialogs, WIDTH, (dialog) => replay(player, dialog));
  executors.endKilling();
  return results;
}

/** What the live tools and the reviewers have to say. */
function reportLive({ live, reviewers }: Stage): number {
  const summaries = [live?.summary(), live && reviewers?.summary(live.carriedOut())];
  for (const summary of summaries) if (summary) console.log(summary.text);
  return summaries.every((summary) => summary?.good ?? true) ? 0 : 1;
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
