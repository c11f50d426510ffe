import type { JsonSchema } from './json-schema';
import type { Break, Direction } from './schema-breaks';

const LEAST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
const MOST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];

/** Limits that have become tighter on what others send. */
export function limitBreaks(
  before: JsonSchema,
  after: JsonSchema,
  direction: Direction,
  at: string,
): Break[] {
  if (direction === 'out') return [];
  const found = [...LEAST, ...MOST].flatMap((limit) => {
    const [old, now] = [before[limit], after[limit]];
    if (typeof now !== 'number') return [];
    const tighter = typeof old !== 'number' || (LEAST.includes(limit) ? now > old : now < old);
    return tighter ? [{ at, what: `${limit} is now ${now}` }] : [];
  });
  if (after.pattern !== undefined && after.pattern !== before.pattern)
    found.push({ at, what: 'must now match another pattern' });
  if (typeof after.format === 'string' && after.format !== before.format)
    found.push({ at, what: `must now be a ${after.format}` });
  if (after.additionalProperties === false && before.additionalProperties !== false)
    found.push({ at, what: 'no longer takes members that it does not know' });
  return found;
}
