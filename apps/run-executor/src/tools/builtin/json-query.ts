import type { Json } from '@runyard/contracts';
import { UserError } from './user.errors';

/** The value at a JSON Pointer (RFC 6901) of a JSON text, as JSON text. Throws UserError that names the part that failed. */
export function jsonQuery(json: string, pointer: string, keysOnly = false): string {
  const value = tokensOf(pointer).reduce<Json>(step, parse(json));
  return JSON.stringify(keysOnly ? outline(value) : value);
}

function parse(json: string): Json {
  try {
    return JSON.parse(json) as Json;
  } catch (error) {
    throw new UserError(`json: not valid JSON (${error instanceof Error ? error.message : String(error)})`);
  }
}

function tokensOf(pointer: string): string[] {
  if (pointer === '') return [];
  if (!pointer.startsWith('/'))
    throw new UserError(`pointer: must be empty or begin with "/", e.g. "/items/0"`);
  const escaped = pointer.slice(1).split('/');
  return escaped.map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function step(value: Json, token: string): Json {
  if (Array.isArray(value)) {
    const item = /^(0|[1-9]\d*)$/.test(token) ? value[Number(token)] : undefined;
    if (item === undefined)
      throw new UserError(`pointer: no item "${shortened(token)}" in an array of ${value.length}`);
    return item;
  }
  if (value === null || typeof value !== 'object') {
    throw new UserError(
      `pointer: "${shortened(token)}" asked of ${value === null ? 'null' : `a ${typeof value}`}, which has no parts`,
    );
  }
  // Own properties only: "constructor" is a key like any other.
  const found = Object.hasOwn(value, token) ? value[token] : undefined;
  if (found === undefined)
    throw new UserError(`pointer: no key "${shortened(token)}"; there are ${listed(Object.keys(value))}`);
  return found;
}

function outline(value: Json): Json {
  if (Array.isArray(value)) return { length: value.length };
  if (value === null || typeof value !== 'object') return { type: value === null ? 'null' : typeof value };
  return { keys: Object.keys(value) };
}

const shortened = (text: string): string => text.slice(0, 60);
const listed = (keys: string[]): string =>
  keys.length === 0 ? 'none' : keys.slice(0, 20).map(shortened).join(', ') + (keys.length > 20 ? ', …' : '');
