// Three long coding runs that nobody here wrote, through the whole product: their totals are the source's own.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codingRunsFile } from '../../../examples/openhands/data.config';
import { modelRecording, toolRecording, toolRows } from '../../../examples/openhands/recordings';
import { FINISH, readCodingRuns } from '../../../examples/openhands/source';
import type { CodingRun } from '../../../examples/openhands/source';
import { World } from './world';

jest.setTimeout(180_000);

const file = codingRunsFile();
if (file === undefined)
  process.stderr.write(
    'RUNYARD_DATA names no coding runs: their totals are left out (README, "Data", says how to get them).\n',
  );
const runs = file === undefined ? [] : readCodingRuns(file);

const MODEL = { file: 'coding.json', tools: 'coding-tools.json', id: 'coding' };
/** What the source states, read off its README and not out of the file that is played. */
const TOTALS = [
  [565_158, 2_558],
  [410_169, 5_156],
  [938_015, 5_627],
];

let world: World;
beforeAll(async () => {
  if (file === undefined) return;
  world = await World.open({ recordings: {} });
  await install();
});
afterAll(() => world?.close());

async function install(): Promise<void> {
  const { recordings } = world.platform.folders;
  writeFileSync(join(recordings, MODEL.file), JSON.stringify(modelRecording(runs)));
  writeFileSync(join(recordings, MODEL.tools), JSON.stringify(toolRecording(runs)));
  await world.api.call('POST', '/v1/models', {
    model_id: MODEL.id,
    label: 'Llama 4 Maverick, recorded',
    tier: 'deep',
    provider: { kind: 'recorded', recording: MODEL.file },
    model: 'llama-4-maverick',
    context_window: 1_000_000,
    max_output_tokens: 4_096,
  });
  const tools = toolRows(runs, MODEL.tools);
  for (const tool of tools) await world.api.call('POST', '/v1/tools', tool);
  await world.agent('coder', MODEL.id, {
    prompt: runs[0]?.system,
    tools: tools.map(({ name }) => name),
    bounds: { token_budget: 5_000_000, max_steps: 100, max_tool_calls: 100 },
  });
}

/** A run that the source cut ends at the same turn. */
const played = (run: CodingRun) =>
  world.ran('coder', run.task, { conversation_id: run.name, bounds: { max_steps: run.turns.length } });

const onData = (work: () => Promise<void>) => async (): Promise<void> => {
  if (file !== undefined) await work();
};

test(
  'the recorded coding runs end with exactly the totals that their source states',
  onData(async () => {
    expect(runs.map(({ stated }) => [stated.input, stated.output])).toEqual(TOTALS);
    for (const run of runs) {
      const row = await world.row(await played(run));
      const finished = run.turns.at(-1)?.call.tool === FINISH;
      expect(row).toMatchObject({
        conversation_id: run.name,
        termination: finished ? 'Completed' : 'BudgetExceeded',
        reason: finished ? null : 'iteration_cap',
        input_tokens: String(run.stated.input),
        output_tokens: String(run.stated.output),
        total_tokens: String(run.stated.input + run.stated.output),
        model_calls: run.turns.length,
        tool_calls: run.turns.length,
        model: run.model,
      });
    }
  }),
);

test(
  'each turn is recorded as it was: text, call, arguments to the byte, usage',
  onData(async () => {
    const sql = `SELECT s.kind, s.content, s.arguments, s.tool, s.input_tokens::int, s.output_tokens::int
      FROM run_executor.agent_steps s JOIN run_executor.agent_runs r USING (run_id)
      WHERE r.conversation_id = $1 ORDER BY s.seq`;
    for (const run of runs) {
      const { rows } = await world.owner.query<Record<string, unknown>>(sql, [run.name]);
      const [turns, calls] = ['model_turn', 'tool_call'].map((kind) =>
        rows.filter((row) => row.kind === kind),
      );
      expect(turns?.map((row) => [row.content, row.input_tokens, row.output_tokens])).toEqual(
        run.turns.map(({ text, usage }) => [text, usage.input, usage.output]),
      );
      expect(calls?.map((row) => [row.tool, row.arguments])).toEqual(
        run.turns.map(({ call }) => [call.tool, call.arguments]),
      );
    }
  }),
);

test(
  'the ledger, the spend report and the audit know the same tokens',
  onData(async () => {
    const total = TOTALS.flat().reduce((sum, tokens) => sum + tokens, 0);
    const budget = await world.api.call<{ settled: number; reserved: number }>(
      'GET',
      `/v1/budgets/${world.userId}`,
    );
    expect(budget).toMatchObject({ settled: total, reserved: 0 });
    const { code, out } = await world.runyard('audit');
    expect([code, out.at(-1)]).toEqual([0, expect.stringMatching(new RegExp(`equal .* ${total} tokens`))]);
  }),
);
