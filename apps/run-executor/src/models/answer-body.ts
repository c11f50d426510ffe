import { malformed, type AnswerReader, type WireError } from './answer';
import { EventStream } from './event-stream';
import { parseJson } from './wire-json';

/** Chat-completions streams end with this word instead of JSON. */
const DONE = '[DONE]';

/**
 * Feeds an answer's bytes to a reader and returns the error that the provider put into it, if any. Whether the bytes are
 * a stream is told by themselves: endpoints that ignore `stream: true` send a JSON object, and some mislabel either.
 */
export async function readAnswer(
  body: AsyncIterable<Uint8Array>,
  reader: AnswerReader,
): Promise<WireError | null> {
  const stream = new EventStream();
  const whole: Uint8Array[] = [];
  let kind: 'unknown' | 'stream' | 'whole' = 'unknown';
  for await (const bytes of body) {
    if (kind === 'unknown') kind = kindOf(bytes);
    if (kind !== 'stream') {
      whole.push(bytes);
      continue;
    }
    // Blank bytes that came before the kind was known belong to the stream.
    for (const early of whole.splice(0)) stream.push(early);
    for (const data of stream.push(bytes)) {
      if (data.trim() === DONE) return null;
      const error = takeData(data, reader);
      if (error || reader.closed) return error;
    }
  }
  return kind === 'whole' ? takeWhole(whole, reader) : takeRest(stream, reader);
}

/** How the lines of an event stream begin. */
const STREAM_LINES = ['data', 'event', 'id', 'retry', ':'];

/** Anything that is no line of an event stream is taken for a whole body: a JSON object, or a page of some proxy. */
function kindOf(bytes: Uint8Array): 'unknown' | 'stream' | 'whole' {
  const text = new TextDecoder().decode(bytes).trimStart();
  if (text === '') return 'unknown';
  // The first chunk may end inside the first word.
  return STREAM_LINES.some((line) => text.startsWith(line) || line.startsWith(text)) ? 'stream' : 'whole';
}

function takeData(data: string, reader: AnswerReader): WireError | null {
  if (data.trim() === '') return null;
  const payload = parseJson(data);
  return payload === undefined ? malformed('An event of the stream is not JSON.') : reader.takeEvent(payload);
}

function takeWhole(parts: Uint8Array[], reader: AnswerReader): WireError | null {
  const payload = parseJson(new TextDecoder().decode(Buffer.concat(parts)).trim());
  return payload === undefined ? malformed('The answer is not JSON.') : reader.takeWhole(payload);
}

/** The last event may lack its blank line. If it is no JSON, it was cut, and the answer with it. */
function takeRest(stream: EventStream, reader: AnswerReader): WireError | null {
  const payload = parseJson(stream.end() ?? '');
  return payload === undefined ? null : reader.takeEvent(payload);
}
