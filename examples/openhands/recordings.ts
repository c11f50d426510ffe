import { FINISH } from './source';
import type { CodingRun, CodingTurn } from './source';

/** Results up to this many bytes reach the model as they are (`apps/run-executor/src/tools/README.md`); longer ones are shortened. */
const SHOWN_WHOLE_BYTES = 16 * 1024;

/** The runs as a recording for the recorded provider: each task is answered as long as the tools answer as they did. */
export const modelRecording = (runs: readonly CodingRun[]) => ({
  format: 'runyard-recording/1',
  model: runs[0]?.model,
  dialogs: runs.map((run) => ({
    name: run.name,
    turns: run.turns.map(({ text, call, usage }, index) => ({
      expect: [heard(run, run.turns[index - 1])],
      text,
      tool_calls: [call],
      usage,
    })),
  })),
});

function heard({ task }: CodingRun, before: CodingTurn | undefined) {
  if (before === undefined) return { role: 'user', text: task };
  const whole = Buffer.byteLength(before.result) <= SHOWN_WHOLE_BYTES;
  return whole ? { role: 'tool', text: before.result } : { role: 'tool', any: true };
}

/** What the tools answered, for the recorded tools: by place in the dialog, each call with the arguments it must have. */
export const toolRecording = (runs: readonly CodingRun[]) => ({
  format: 'runyard-tool-recording/1',
  dialogs: runs.map(({ name, turns }) => ({
    name,
    calls: turns.map(({ call, result }) => ({
      tool: call.tool,
      arguments: JSON.parse(call.arguments) as unknown,
      result,
    })),
  })),
});

/** Rows of the tool catalogue; the runs were given the same tools. */
export const toolRows = ([run]: readonly CodingRun[], recording: string) =>
  (run?.tools ?? []).map(({ name, description, parameters }) => ({
    name,
    description,
    input_schema: parameters,
    // A recorded answer changes nothing, so a call may be repeated after a crash.
    effect: 'read',
    idempotent: true,
    source: { kind: 'recorded', recording },
    ends_run: name === FINISH,
  }));
