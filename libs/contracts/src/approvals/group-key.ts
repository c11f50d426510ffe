import type { Json } from '../json';
import { valueAt } from './argument-condition';

const PLACE = /\{([^{}]*)\}/g;
/** A key is compared, stored with every step and shown to people. */
const LONGEST_KEY = 300;

/** Why a template makes no sense, or undefined. */
export function templateRefusal(template: string): string | undefined {
  const places = [...template.matchAll(PLACE)].map(([, pointer]) => pointer ?? '');
  if (places.some((pointer) => !pointer.startsWith('/')))
    return 'must name places as JSON Pointers in braces, such as {/customer_id}';
  return /[{}]/.test(template.replace(PLACE, '')) ? 'has a brace without its partner' : undefined;
}

/**
 * The group of a call by its rule's template. Null where the call belongs to none: a place that is empty, or a key too long to be
 * compared. Values that are not plain words are quoted, so that no two calls share a key by their punctuation.
 */
export function groupKeyOf(template: string, given: Json): string | null {
  let complete = true;
  const key = template.replace(PLACE, (_, pointer: string) => {
    const value = valueAt(given, pointer);
    if (value === undefined) complete = false;
    return typeof value === 'string' && /^[\w.@+-]+$/.test(value) ? value : (JSON.stringify(value) ?? '');
  });
  return complete && key.length <= LONGEST_KEY ? key : null;
}
