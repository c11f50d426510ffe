import type { Command } from 'commander';
import type { Runyard } from '@runyard/client';
import { apiOf } from './api';
import { whole } from './command';
import type { CommandLine } from './command';
import { EXIT } from './terminal';

interface ForkOptions {
  step?: string;
  input?: string;
  prompt?: string;
  model?: string;
  tools?: string;
  repeatWrites?: boolean;
  key?: string;
  follow?: boolean;
  json?: boolean;
}

type Follow = (api: Runyard, runId: string, json: boolean, signal: AbortSignal) => Promise<number>;

/** `runs fork`: a new run from a step of a recorded one. */
export function forkCommand(runs: Command, line: CommandLine, follow: Follow): void {
  runs
    .command('fork <run>')
    .description('Starts a new run from a step of a recorded one; steps before it are not bought again.')
    .option('--step <n>', 'completed steps that are taken over (default: all; 0: none but the input)')
    .option('--input <text>', 'from step 0: instead of the input; later: said after what is taken over')
    .option('--prompt <text>', "instead of the owner's prompt")
    .option('--model <id>', 'another row of the allowed models')
    .option('--tools <names>', 'these tools, separated by commas, instead of those of the source')
    .option('--repeat-writes', 'write again what the run has written since that step')
    .option('--key <key>', 'idempotency key: the same key is the same run, for ever')
    .option('--follow', 'watch it to its end')
    .option('--json', 'print what the API answers')
    .action((runId: string, options: ForkOptions) =>
      line.run((signal) => fork(apiOf(line.file()), runId, options, line, follow, signal)),
    );
}

async function fork(
  api: Runyard,
  runId: string,
  options: ForkOptions,
  { terminal }: CommandLine,
  follow: Follow,
  signal: AbortSignal,
): Promise<number> {
  const { step, input, prompt, model, tools, repeatWrites, key } = options;
  const body = {
    step: step === undefined ? undefined : whole(step),
    input,
    prompt,
    model_id: model,
    tools: tools?.split(',').filter(Boolean),
    repeat_writes: repeatWrites,
  };
  const path = { run_id: runId };
  const forked = await api.call('POST /v1/runs/{run_id}/fork', { path, body, idempotencyKey: key });
  terminal.out(options.json ? JSON.stringify(forked) : forked.run_id);
  if (options.follow) return follow(api, forked.run_id, options.json === true, signal);
  terminal.say(`Watch it with: runyard runs follow ${forked.run_id}`);
  return EXIT.ok;
}
