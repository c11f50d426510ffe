import { setTimeout as delay } from 'node:timers/promises';
import { failure, statusFailure, wireFailure } from './provider.errors';
import { parseRecording, type RecordedTurn, type Recording, type ScriptedFailure } from './recording';
import { RecordingCursor } from './recording-cursor';
import { callBytes, interruptedUsage, settledUsage } from './token-usage';
import type { ModelAdapter, ModelFailure, ModelRequest, ModelResult, ModelTurn } from './types';
import { parseJson } from './wire-json';

interface Loaded {
  recording: Recording;
  cursor: RecordingCursor;
}

/**
 * Plays turns from recordings: for demonstrations, tests and evals. It answers only what the recording answers, and
 * refuses a dialog that differs. A recording is read once per process.
 */
export function recordedAdapter(recordings: (name: string) => Promise<unknown>): ModelAdapter {
  const files = new Map<string, Promise<Recording>>();
  const cursors = new Map<string, Loaded>();
  const load = async (name: string): Promise<Loaded> => {
    const known = cursors.get(name);
    if (known) return known;
    // `file#dialog` names one dialog of a file.
    const [file = '', dialog] = name.split('#', 2);
    const recording = await once(files, file, () => recordings(file));
    const loaded = cursors.get(name) ?? { recording, cursor: new RecordingCursor(recording, dialog) };
    cursors.set(name, loaded);
    return loaded;
  };
  return {
    async call(request) {
      const { provider } = request.route;
      if (provider.kind !== 'recorded')
        return failed(failure('provider_invalid', 'This is no route to a recording.'));
      try {
        return await play(await load(provider.recording), request);
      } catch (error) {
        if (request.signal.aborted) return failed(failure('cancelled', 'The model call was cancelled.'));
        const text = error instanceof Error ? error.message : String(error);
        return failed(
          failure('provider_invalid', `The recording "${provider.recording}" cannot be played: ${text}`),
        );
      }
    },
  };
}

function once(
  files: Map<string, Promise<Recording>>,
  file: string,
  read: () => Promise<unknown>,
): Promise<Recording> {
  const known = files.get(file);
  if (known) return known;
  const reading = read().then((content) =>
    parseRecording(typeof content === 'string' ? parseJson(content) : content),
  );
  files.set(file, reading);
  // A file that was missing or wrong may be put right.
  reading.catch(() => files.delete(file));
  return reading;
}

async function play({ recording, cursor }: Loaded, request: ModelRequest): Promise<ModelResult> {
  const played = cursor.play(request);
  if ('difference' in played) return failed(failure('recording_differs', played.difference));
  const { turn, attempt } = played;
  if (turn.delay_ms > 0) await delay(turn.delay_ms, undefined, { signal: request.signal });
  const scripted = turn.failures[attempt - 1];
  if (scripted) return failed(failureOf(scripted, request));
  return { ok: true, turn: turnOf(turn, recording, request) };
}

function turnOf(turn: RecordedTurn, recording: Recording, request: ModelRequest): ModelTurn {
  const toolCalls = turn.tool_calls.map((call) => ({
    providerCallId: call.id,
    tool: call.tool,
    arguments: call.arguments,
  }));
  const finish = turn.finish ?? (toolCalls.length > 0 ? 'tool_calls' : 'stop');
  return {
    text: turn.text,
    reasoning: turn.reasoning,
    toolCalls,
    providerReason: turn.provider_reason ?? finish,
    finish,
    usage: settledUsage(turn.usage ?? null, request, bytesOf(turn)),
    model: turn.model ?? recording.model ?? request.route.model,
    providerState: null,
  };
}

/** A scripted failure means what the same thing means from a real provider. */
function failureOf(scripted: ScriptedFailure, request: ModelRequest): ModelFailure {
  if ('status' in scripted)
    return statusFailure(scripted.status, scripted.message, scripted.retry_after_ms ?? null);
  const text = 'cut_after' in scripted ? scripted.cut_after : (scripted.after_text ?? '');
  const usage = interruptedUsage(null, request, Buffer.byteLength(text));
  if ('cut_after' in scripted)
    return failure('interrupted', 'The stream ended before the answer did.', {
      status: 200,
      retryable: true,
      partialText: text || null,
      usage,
    });
  const error = { type: scripted.error, message: scripted.message, status: null };
  return wireFailure(error, 200, text === '' ? null : { text, usage, begun: true });
}

function bytesOf(turn: RecordedTurn): number {
  let bytes = Buffer.byteLength(turn.text ?? '') + Buffer.byteLength(turn.reasoning ?? '');
  for (const call of turn.tool_calls) bytes += callBytes(call.tool, call.arguments);
  return bytes;
}

const failed = (failure: ModelFailure): ModelResult => ({ ok: false, failure });
