import { setTimeout as wait } from 'node:timers/promises';
import { ONCE_AGENT, SLOW_AGENT } from './catalogue';
import type { Laboratory } from './laboratory';
import type { RunsOptions } from './options';
import type { FollowedRun, Requester } from './requester';
import { percentile } from './statistics';

/** Slow runs under way when an executor is killed; with two executors each drives some of them. */
const RUNS_UNDER_WAY = 8;
/** A survivor's word about a dead process counts once its own connection has been up for 2 s (protocol P3.3). */
const SETTLED_MS = 2_500;
/** The effect that must not happen twice is interrupted so often. */
const INTERRUPTIONS = 3;

export interface Recovery {
  kills: number;
  /** Seconds from each kill until another executor had continued the last of its runs. */
  seconds: number[];
  p50: number;
  worst: number;
  /** Runs that were taken over. */
  takenOver: number;
  /** Times that a tool which must not be repeated was interrupted, and times that it was called. */
  interrupted: number;
  called: number;
}

/** Kills executors, -9, while they drive runs with a slow model, and while a tool is under way that must not be repeated. */
export async function measureRecovery(
  laboratory: Laboratory,
  { kills }: RunsOptions,
  say: (line: string) => void,
): Promise<Recovery> {
  const { executors } = laboratory;
  await executors.stop();
  const reader = await laboratory.reader();
  try {
    const pair = [executors.start(), executors.start()];
    const seconds: number[] = [];
    let takenOver = 0;
    while (seconds.length < kills) {
      await wait(SETTLED_MS);
      const { recovered, victim } = await killOne(laboratory, reader, pair);
      pair.splice(pair.indexOf(victim), 1, executors.start());
      if (recovered.length === 0) continue;
      takenOver += recovered.length;
      seconds.push(Math.max(...recovered) / 1_000);
      say(
        `  kill ${seconds.length}: ${recovered.length} runs went on after ${seconds.at(-1)?.toFixed(2)} s at the latest`,
      );
    }
    await executors.stop();
    await interrupt(laboratory, reader, Math.min(kills, INTERRUPTIONS));
    const { calls: called } = laboratory.once;
    return {
      kills,
      seconds,
      p50: percentile(seconds, 0.5),
      worst: Math.max(...seconds),
      takenOver,
      interrupted: Math.min(kills, INTERRUPTIONS),
      called,
    };
  } finally {
    await executors.stop();
    await reader.close();
  }
}

/** Kills one of two executors amid slow model calls; milliseconds until each of its runs was continued. */
async function killOne(
  { executors }: Laboratory,
  reader: Requester,
  pair: readonly number[],
): Promise<{ recovered: number[]; victim: number }> {
  const runs: FollowedRun[] = [];
  const ended = Array.from({ length: RUNS_UNDER_WAY }, () =>
    reader.run(SLOW_AGENT, undefined, (run) => runs.push(run)),
  );
  await until(() => runs.every(({ commitsAt }) => commitsAt.length > 0));
  await wait(100 + Math.random() * 500);
  const victim = pair[Math.floor(Math.random() * pair.length)] ?? 0;
  const killedAt = performance.now();
  await executors.kill(victim);
  for (const { end, runId } of await Promise.all(ended))
    if (end !== 'RunSucceeded') throw new Error(`run ${runId} ended with ${end} after a kill`);
  const recovered = runs.flatMap(({ recoveredAt }) => recoveredAt.slice(0, 1)).map((at) => at - killedAt);
  return { recovered, victim };
}

/**
 * Kills every executor while a tool is under way that must not be repeated. Who comes after cannot know whether it
 * happened: the run must end with that said, and the tool must not have been called again.
 */
async function interrupt(
  { executors, once, rows }: Laboratory,
  reader: Requester,
  times: number,
): Promise<void> {
  for (let i = 0; i < times; i++) {
    const pid = executors.start();
    const called = once.next();
    let runId = '';
    const ended = reader.run(ONCE_AGENT, undefined, (run) => (runId = run.runId));
    await called;
    await executors.kill(pid);
    const heir = executors.start();
    const { end } = await ended;
    await rows.reach(await reader.lastSequence());
    const row = await rows.stateOf(runId);
    if (end !== 'RunFailed' || row?.reason !== 'unknown_effect')
      throw new Error(`an interrupted effect ended with ${end} (${row?.reason})`);
    await executors.kill(heir);
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await wait(5);
}
