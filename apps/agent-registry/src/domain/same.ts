/** Equal as JSON values; the order of an object's keys does not count, that of a list does. Undefined is the same as absent. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [entries(a), entries(b)];
  return (
    left.size === right.size &&
    [...left].every(([key, value]) => right.has(key) && same(value, right.get(key)))
  );
}

function entries(value: object): Map<string, unknown> {
  return new Map(Object.entries(value).filter(([, v]) => v !== undefined));
}
