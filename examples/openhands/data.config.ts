import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** The file of recorded coding runs in the folder that `RUNYARD_DATA` names; undefined where there is none. */
export function codingRunsFile(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const file =
    env.RUNYARD_DATA && join(env.RUNYARD_DATA, 'openhands', 'multi_swe_bench_examples_output.jsonl');
  return file && existsSync(file) ? file : undefined;
}
