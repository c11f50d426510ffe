/**
 * Decimal numbers of any size, exact for + - * and for quotients that end; a model that adds prices must not meet
 * 0.30000000000000004. Results that do not end are rounded and say so (`exact: false`).
 */
export interface Decimal {
  /** Value = units / 10^scale. */
  units: bigint;
  /** Never negative; no trailing zeros in `units` beyond it. */
  scale: number;
  exact: boolean;
}

/** The number cannot be worked with; the message is for the model. */
export class ArithmeticError extends Error {}

/** Significant digits that a result which does not end is shown and compared with (IEEE decimal128). */
export const PRECISION = 34;
/** Digits that it is worked with; the spare ones keep 2 / 3 * 3 at 2. */
const WORKING = 50;
/** Longer numbers are refused: a chain of powers would otherwise eat the process. */
export const MAX_DIGITS = 1_000;
/** Significant digits that a double can be trusted for. */
const DOUBLE_DIGITS = 15;

const LITERAL = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d{1,4}))?$/;

/** Reads `12`, `-1.50`, `2e-3`. Throws ArithmeticError. */
export function decimal(text: string, exact = true): Decimal {
  const match = LITERAL.exec(text);
  const [, sign = '', whole = '', fraction = '', exponent = '0'] = match ?? [];
  if (!match || whole + fraction === '') throw new ArithmeticError(`"${text.slice(0, 40)}" is not a number`);
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > MAX_DIGITS) throw tooLong();
  const units = BigInt(`${sign === '-' ? '-' : ''}${whole + fraction}`);
  return scale < 0 ? normal(units * 10n ** BigInt(-scale), 0, exact) : normal(units, scale, exact);
}

/** A double, as the shortest text that a person would write for it. */
export function fromDouble(value: number): Decimal {
  if (!Number.isFinite(value)) throw new ArithmeticError('the result is not a finite number');
  return decimal(value.toPrecision(DOUBLE_DIGITS), false);
}

export const toDouble = (value: Decimal): number => Number(format(value));

export function format({ units, scale }: Decimal): string {
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, '0');
  const whole = digits.slice(0, digits.length - scale);
  const text = scale === 0 ? whole : `${whole}.${digits.slice(digits.length - scale)}`;
  return units < 0n ? `-${text}` : text;
}

export function add(a: Decimal, b: Decimal): Decimal {
  const scale = Math.max(a.scale, b.scale);
  return normal(unitsAt(a, scale) + unitsAt(b, scale), scale, a.exact && b.exact);
}

export const negate = (a: Decimal): Decimal => ({ ...a, units: -a.units });
export const subtract = (a: Decimal, b: Decimal): Decimal => add(a, negate(b));
export const multiply = (a: Decimal, b: Decimal): Decimal =>
  normal(a.units * b.units, a.scale + b.scale, a.exact && b.exact);

/** As shown: a rounded number without the spare digits. */
export const shown = (a: Decimal): Decimal => (a.exact ? a : significant(a, PRECISION));

/** -1, 0 or 1. Rounded numbers are equal where they are shown equal. */
export function compare(a: Decimal, b: Decimal): number {
  const difference = subtract(shown(a), shown(b)).units;
  return difference === 0n ? 0 : difference > 0n ? 1 : -1;
}

export function divide(a: Decimal, b: Decimal): Decimal {
  if (b.units === 0n) throw new ArithmeticError('division by zero');
  const places =
    WORKING + Math.max(0, digitsOf(b.units) - digitsOf(a.units)) + Math.max(0, a.scale - b.scale);
  const numerator = unitsAt(a, a.scale + places);
  const quotient = numerator / b.units;
  const scale = a.scale + places - b.scale;
  if (quotient * b.units === numerator) return placed(quotient, scale, a.exact && b.exact);
  return placed(quotient, scale, false);
}

/** The remainder has the sign of the dividend, as in most languages. */
export function remainder(a: Decimal, b: Decimal): Decimal {
  if (b.units === 0n) throw new ArithmeticError('division by zero');
  const scale = Math.max(a.scale, b.scale);
  return normal(unitsAt(a, scale) % unitsAt(b, scale), scale, a.exact && b.exact);
}

export function power(base: Decimal, exponent: Decimal): Decimal {
  if (exponent.scale > 0) return fromDouble(toDouble(base) ** toDouble(exponent));
  const n = exponent.units < 0n ? -exponent.units : exponent.units;
  const trivial = base.exact && base.scale === 0 && base.units >= -1n && base.units <= 1n;
  if (
    base.exact &&
    !trivial &&
    n * BigInt(Math.max(digitsOf(base.units) - 1, base.scale)) > BigInt(MAX_DIGITS)
  )
    throw tooLong();
  const times = trivial ? n % 2n || (n === 0n ? 0n : 2n) : n;
  if (times > BigInt(MAX_DIGITS * MAX_DIGITS)) throw tooLong();
  const raised = raise(base, times);
  const result = { ...raised, exact: raised.exact && exponent.exact };
  return exponent.units < 0n ? divide(decimal('1'), result) : result;
}

function raise(base: Decimal, times: bigint): Decimal {
  let result = decimal('1');
  for (let square = base; times > 0n; times >>= 1n) {
    if (times & 1n) result = multiply(result, square);
    if (times > 1n) square = multiply(square, square);
  }
  return result;
}

/** Exact for squares, otherwise rounded. */
export function squareRoot(a: Decimal): Decimal {
  if (a.units < 0n) throw new ArithmeticError('square root of a negative number');
  const scale = a.scale + (a.scale % 2) + 2 * WORKING;
  const units = unitsAt(a, scale);
  const root = integerRoot(units);
  if (root * root === units) return normal(root, scale / 2, a.exact);
  return normal(root, scale / 2, false);
}

/** Rounds to `places` decimals (negative: tens, hundreds, …), halves away from zero. */
export function round(a: Decimal, places = 0): Decimal {
  if (a.scale <= places) return a;
  const cut = 10n ** BigInt(a.scale - places);
  const half = a.units < 0n ? -(cut / 2n) : cut / 2n;
  return placed((a.units + half) / cut, places, a.exact);
}

export function floor(a: Decimal): Decimal {
  const whole = a.units / 10n ** BigInt(a.scale);
  const below = a.units < 0n && a.scale > 0 ? 1n : 0n;
  return { units: whole - below, scale: 0, exact: a.exact };
}

const significant = (a: Decimal, digits: number): Decimal =>
  round(a, a.scale - Math.max(0, digitsOf(a.units) - digits));

/** `units / 10^scale` where the scale may be negative. */
const placed = (units: bigint, scale: number, exact: boolean): Decimal =>
  scale < 0 ? normal(units * 10n ** BigInt(-scale), 0, exact) : normal(units, scale, exact);

function normal(units: bigint, scale: number, exact: boolean): Decimal {
  const spare = exact ? 0 : Math.min(scale, digitsOf(units) - WORKING);
  if (spare > 0) {
    units /= 10n ** BigInt(spare);
    scale -= spare;
  }
  while (scale > 0 && units % 10n === 0n) {
    units /= 10n;
    scale -= 1;
  }
  if (Math.max(digitsOf(units), scale) > MAX_DIGITS) throw tooLong();
  return { units, scale, exact };
}

const unitsAt = (a: Decimal, scale: number): bigint => a.units * 10n ** BigInt(scale - a.scale);
const digitsOf = (units: bigint): number => (units < 0n ? -units : units).toString().length;
const tooLong = () => new ArithmeticError(`the number would have more than ${MAX_DIGITS} digits`);

function integerRoot(n: bigint): bigint {
  if (n < 2n) return n;
  let guess = 1n << BigInt((n.toString(2).length + 1) >> 1);
  for (;;) {
    const next = (guess + n / guess) >> 1n;
    if (next >= guess) return guess;
    guess = next;
  }
}
