import { DialogScript, type Recording, type RecordedTurn } from './recording';
import type { ChatMessage, ModelRequest } from './types';

type Said = Exclude<ChatMessage, { role: 'assistant' }>;
type Answered = Extract<ChatMessage, { role: 'assistant' }>;

/** How far a dialog was compared: up to the last answer; what came after it is compared when its turn is played. */
interface Place {
  /** Messages compared. */
  at: number;
  /** Number of the turn to play next, from 0. */
  turn: number;
  candidates: readonly DialogScript[];
  /** Attempts at `turn` so far, for callers that do not number them. */
  attempts: number;
}

export type Played = { turn: RecordedTurn; attempt: number } | { difference: string };

/**
 * Finds the turn of a recording that answers a dialog. A dialog only grows, so what was compared of an array is
 * remembered, and a run of thousands of steps compares each message once.
 */
export class RecordingCursor {
  private readonly places = new WeakMap<readonly ChatMessage[], Place>();
  private readonly scripts: readonly DialogScript[];

  /** `dialog` restricts the choice to the dialog of that name. */
  constructor(recording: Recording, dialog?: string) {
    this.scripts = recording.dialogs
      .filter(({ name }) => dialog === undefined || name === dialog)
      .map((recorded) => new DialogScript(recorded));
  }

  play(request: Pick<ModelRequest, 'system' | 'messages' | 'attempt'>): Played {
    const { messages } = request;
    const known = this.places.get(messages);
    const start = known && known.at <= messages.length ? known : this.beginning(request.system);
    const reached = advance(start, messages);
    if ('difference' in reached) return reached;
    const { place, trailing } = reached;
    const final = chosen(place.candidates, (script) => playable(script, place.turn, trailing));
    if ('difference' in final) return final;
    place.attempts += 1;
    this.places.set(messages, place);
    const turn = final.candidates[0]?.turn(place.turn);
    return turn
      ? { turn, attempt: request.attempt ?? place.attempts }
      : { difference: 'The recording has no turns.' };
  }

  private beginning(system: string): Place {
    const fitting = ({ dialog }: DialogScript): boolean =>
      dialog.system === undefined || dialog.system === system;
    return { at: 0, turn: 0, candidates: this.scripts.filter(fitting), attempts: 0 };
  }
}

/** Goes on from `start` over every answer that follows, and returns what was said after the last one. */
function advance(
  start: Place,
  messages: readonly ChatMessage[],
): { place: Place; trailing: Said[] } | { difference: string } {
  let place = start;
  let trailing: Said[] = [];
  for (let i = start.at; i < messages.length; i++) {
    const message = messages[i];
    if (message?.role !== 'assistant') {
      if (message) trailing.push(message);
      continue;
    }
    const { turn } = place;
    const said = trailing;
    const left = chosen(
      place.candidates,
      (script) => playable(script, turn, said) ?? answerDiffers(script, turn, message),
    );
    if ('difference' in left) return left;
    place = { at: i + 1, turn: turn + 1, candidates: left.candidates, attempts: 0 };
    trailing = [];
  }
  return { place, trailing };
}

/** The candidates in which nothing differs, or what differs in the last of them. */
function chosen(
  candidates: readonly DialogScript[],
  differs: (script: DialogScript) => string | null,
): { candidates: readonly DialogScript[] } | { difference: string } {
  let difference = 'No dialog of the recording has this name and system prompt.';
  const left = candidates.filter((script) => {
    const found = differs(script);
    difference = found ?? difference;
    return found === null;
  });
  return left.length > 0 ? { candidates: left } : { difference };
}

/** Null: what was said is what turn `index` expects. */
function playable(script: DialogScript, index: number, said: readonly Said[]): string | null {
  const turn = script.turn(index);
  const where = `Before turn ${index + 1}`;
  if (!turn) return `The recording has ${script.length} turns; the dialog asks for turn ${index + 1}.`;
  if (!turn.expect) return null;
  for (const [i, expected] of turn.expect.entries()) {
    const actual = said[i];
    if (!actual)
      return `${where}: the recording expects ${turn.expect.length} messages, the dialog has ${said.length}.`;
    if (actual.role !== expected.role)
      return `${where}, message ${i + 1}: expected one of role ${expected.role}, found ${actual.role}.`;
    if ('text' in expected && expected.text !== actual.text)
      return `${where}, message ${i + 1} (${actual.role}): ${difference(expected.text, actual.text)}`;
  }
  if (said.length > turn.expect.length)
    return `${where}: the recording expects ${turn.expect.length} messages, the dialog has ${said.length}.`;
  return null;
}

/** Null: the dialog's answer is what the recording plays as turn `index`. */
function answerDiffers(script: DialogScript, index: number, answer: Answered): string | null {
  const turn = script.turn(index);
  const where = `In turn ${index + 1}`;
  if (!turn) return `${where}: the recording has no such turn.`;
  if (turn.text !== answer.text) return `${where}, text: ${difference(turn.text, answer.text)}`;
  if (turn.tool_calls.length !== answer.toolCalls.length)
    return `${where}: the recording has ${turn.tool_calls.length} calls, the dialog ${answer.toolCalls.length}.`;
  for (const [i, call] of turn.tool_calls.entries()) {
    const actual = answer.toolCalls[i];
    if (call.tool !== actual?.tool)
      return `${where}, call ${i + 1}: expected tool ${call.tool}, found ${actual?.tool}.`;
    if (call.arguments !== actual.arguments)
      return `${where}, arguments of call ${i + 1}: ${difference(call.arguments, actual.arguments)}`;
  }
  return null;
}

const CONTEXT = 40;

/** The first place where two texts part, with what follows there. */
function difference(expected: string | null, actual: string | null): string {
  if (expected === null || actual === null)
    return `expected ${shown(expected, 0)}, found ${shown(actual, 0)}.`;
  let at = 0;
  while (at < expected.length && expected[at] === actual[at]) at++;
  return `at character ${at + 1} expected ${shown(expected, at)}, found ${shown(actual, at)}.`;
}

const shown = (text: string | null, at: number): string =>
  text === null ? 'none' : at >= text.length ? 'its end' : JSON.stringify(text.slice(at, at + CONTEXT));
