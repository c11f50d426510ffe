import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A message as the source recorded it. */
export interface SourceMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  content: string | null;
  name?: string;
  tool_call_id?: string;
  tool_calls?: { id: string; type: string; function: { name: string; arguments: string } }[];
}

export interface SourceDialog {
  task_id: number;
  trial: number;
  reward: number;
  /** What should have been done, and said. */
  info: { task: { actions: { name: string; kwargs: object }[]; outputs: string[] } };
  traj: SourceMessage[];
}

export interface ToolSchema {
  function: { name: string; description: string; parameters: Record<string, unknown> };
}

/** One turn of the person, and how many turns the model took to answer it. */
export interface PlannedRun {
  input: string;
  turns: number;
}

export interface Dialog {
  /** Conversation id. */
  name: string;
  source: SourceDialog;
  runs: PlannedRun[];
}

export interface Source {
  systemPrompt: string;
  dialogs: Dialog[];
  tools: ToolSchema[];
}

/** Reads the recorded dialogs of τ-bench airline (sierra-research/tau-bench @59a200c, MIT) from a data folder. */
export function readSource(dataFolder: string): Source {
  const read = <T>(name: string): T =>
    JSON.parse(readFileSync(join(dataFolder, 'tau-bench', name), 'utf8')) as T;
  const recorded = read<SourceDialog[]>('gpt-4o-airline.json');
  const prompts = new Set(recorded.map((dialog) => dialog.traj[0]?.content ?? ''));
  const [systemPrompt] = prompts;
  if (prompts.size !== 1 || systemPrompt === undefined)
    throw new Error('the dialogs do not share one system prompt');
  const dialogs = recorded.map((source) => ({ name: nameOf(source), source, runs: runsOf(source.traj) }));
  return { systemPrompt, dialogs, tools: read<ToolSchema[]>('airline-tool-schemas.json') };
}

const nameOf = ({ task_id, trial }: SourceDialog): string => `tau-${task_id}-${trial}`;

/** Each message of the person that the model answered is a run; a last one without an answer ended the dialog. */
function runsOf(messages: SourceMessage[]): PlannedRun[] {
  const runs: PlannedRun[] = [];
  messages.forEach((message, index) => {
    if (message.role === 'user' && messages[index + 1]?.role === 'assistant')
      runs.push({ input: message.content ?? '', turns: 0 });
    const current = runs.at(-1);
    if (message.role === 'assistant' && current) current.turns += 1;
  });
  return runs;
}

/** The part of the dialog that runs can reproduce: without the last message of the person where nobody answered it. */
export function reproducible(dialog: SourceDialog): SourceMessage[] {
  const last = dialog.traj.at(-1);
  return last?.role === 'user' ? dialog.traj.slice(0, -1) : dialog.traj;
}

/** The recording of the tools' answers, by dialog and position, in the format of recorded tools. */
export function toolRecording(dialogs: readonly Dialog[]): unknown {
  return {
    format: 'runyard-tool-recording/1',
    dialogs: dialogs.map(({ name, source }) => ({ name, calls: recordedCalls(source.traj) })),
  };
}

function recordedCalls(messages: SourceMessage[]) {
  return messages.flatMap((message, index) =>
    (message.tool_calls ?? []).map((call, offset) => ({
      tool: call.function.name,
      arguments: JSON.parse(call.function.arguments) as unknown,
      result: messages[index + 1 + offset]?.content ?? '',
    })),
  );
}
