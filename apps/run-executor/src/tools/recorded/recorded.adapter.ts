import { misconfigured, reasonOf, refused, succeeded, toolError } from '../outcomes';
import type { RecordingReader, ToolCall, ToolResult } from '../types';
import { dialogOf, differenceOf, parseToolRecording, type ToolRecording } from './recording';

/**
 * Answers calls from recordings by their position in the dialog, for demonstrations, tests and evals; refuses a call that
 * differs from the recorded one. Positions come from the run's log, so a run that another process continues is answered
 * alike. A recording is read once per process.
 */
export function recordedTools(
  recordings: RecordingReader,
): (call: ToolCall, recording: string) => Promise<ToolResult> {
  const loaded = new Map<string, Promise<ToolRecording>>();
  const load = (file: string): Promise<ToolRecording> => {
    const known = loaded.get(file) ?? read(file, recordings);
    loaded.set(file, known);
    // A file that was missing or wrong may be put right.
    known.catch(() => loaded.delete(file));
    return known;
  };
  return async (call, recording) => {
    // `file#dialog` names one dialog of a file, as with recorded models.
    const [file = '', dialog] = recording.split('#', 2);
    try {
      return answer(await load(file), call, dialog);
    } catch (error) {
      return misconfigured(`The recording "${file}" of this tool cannot be played: ${reasonOf(error)}`);
    }
  };
}

async function read(file: string, recordings: RecordingReader): Promise<ToolRecording> {
  const content = await recordings(file);
  if (content === undefined || content === null) throw new Error('there is no such recording');
  return parseToolRecording(content);
}

function answer(recording: ToolRecording, call: ToolCall, dialog: string | undefined): ToolResult {
  const calls = dialogOf(recording, dialog, call.conversationId);
  const named = dialog ?? call.conversationId;
  if (!calls)
    return refused(
      `The recording has no dialog for ${named === null ? 'a run without conversation' : `"${named}"`}.`,
    );
  const where = `Call ${call.position + 1} of the recorded dialog`;
  const recorded = calls[call.position];
  if (!recorded) return refused(`${where} does not exist; there are ${calls.length}.`);
  if (recorded.tool !== call.tool.name)
    return refused(`${where} differs: recorded ${recorded.tool}, called ${call.tool.name}.`);
  const difference = differenceOf(recorded.arguments, call.arguments);
  if (difference !== undefined) return refused(`${where} (${recorded.tool}) differs: ${difference}.`);
  return recorded.failed ? toolError(recorded.result) : succeeded(recorded.result);
}
