import { fieldsOf, parseJson } from './wire-json';

/** Half of a character pair: JSON can carry it, but endpoints refuse the whole request for it. */
const LONE_SURROGATE = /\p{Surrogate}/gu;
const NUL = /\0/g;

/**
 * The text as every endpoint takes it: a lone surrogate becomes the replacement character and NUL its picture (U+2400),
 * both visible to the model. Only requests are cleaned; what is stored stays as it was.
 */
export function sendable(text: string): string {
  return text.replace(LONE_SURROGATE, '\ufffd').replace(NUL, '\u2400');
}

/** {@link sendable} for every text inside a JSON value, names included. */
export function sendableJson(value: unknown): unknown {
  if (typeof value === 'string') return sendable(value);
  if (Array.isArray(value)) return value.map(sendableJson);
  const fields = fieldsOf(value);
  if (!fields) return value;
  return Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [sendable(name), sendableJson(field)]),
  );
}

/** Under this name arguments that are no JSON object go back to a model: endpoints take nothing else. */
export const RAW_ARGUMENTS = '_raw';

/** Arguments as an object: nothing → `{}` (C17), a JSON object → itself, anything else → `{"_raw": "<text>"}`. */
export function argumentsObject(text: string): Record<string, unknown> {
  if (text.trim() === '') return {};
  const given = fieldsOf(parseJson(text));
  return given ? { ...fieldsOf(sendableJson(given)) } : { [RAW_ARGUMENTS]: sendable(text) };
}

/** Arguments as a text that parses as a JSON object; a text that already does is kept byte for byte. */
export function argumentsText(text: string): string {
  const clean = sendable(text);
  if (clean === text && fieldsOf(parseJson(text))) return text;
  return JSON.stringify(argumentsObject(text));
}
