import { types } from 'pg';
import type { CustomTypesConfig } from 'pg';

const INT8 = types.builtins.INT8;
const INT8_ARRAY = 1016;
/** Calendar days and zoneless times: node-postgres would read them in the zone of the process. */
const ZONELESS = new Set<number>([types.builtins.DATE, types.builtins.TIMESTAMP]);

const TEXT_ARRAY = 1009;
const readArray = types.getTypeParser(TEXT_ARRAY as never) as (text: string) => (string | null)[];

/**
 * The one rule for int8 (case C68): it comes back as bigint, always, also from count() and sum() of integers. Positions
 * stay bigint or text; counts and tokens go through {@link toSafeInteger}. Numeric stays text; days stay `YYYY-MM-DD`.
 */
export const columnTypes: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format === 'binary') return types.getTypeParser(oid, 'binary');
    if (oid === INT8) return BigInt;
    if (oid === INT8_ARRAY)
      return (text: string) => readArray(text).map((value) => (value === null ? null : BigInt(value)));
    if (ZONELESS.has(oid)) return (text: string) => text;
    return types.getTypeParser(oid, 'text');
  }) as CustomTypesConfig['getTypeParser'],
};

/** A count or an amount as a number. Throws RangeError instead of rounding what a double cannot hold, or what is no integer. */
export function toSafeInteger(value: bigint | number | string): number {
  const number = typeof value === 'string' && value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${value} is no integer that a number can hold`);
  return number;
}
