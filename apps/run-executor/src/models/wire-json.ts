/** Fields of a JSON object that came from outside; every read must narrow. */
export interface Fields {
  readonly [name: string]: unknown;
}

/** The value as an object, or null for anything else (arrays included). */
export function fieldsOf(value: unknown): Fields | null {
  return isFields(value) ? value : null;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** No call has so many tokens; sums of what providers report must stay exact, or rows that hold them cannot be read. */
const LARGEST_COUNT = 1e12;

/** A whole, non-negative number; providers that send fractions are rounded up, so that nothing is booked too low. */
export function countOf(value: unknown): number | null {
  const counts = typeof value === 'number' && Number.isFinite(value) && value >= 0;
  return counts ? Math.min(Math.ceil(value), LARGEST_COUNT) : null;
}

/** Parses JSON; undefined where it is none (JSON itself has no undefined). */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
