import { toSafeInteger } from './integers';

test.each([
  [9n, 9],
  ['999', 999],
  [900_000, 900_000],
  [-5n, -5],
  [9_007_199_254_740_991n, Number.MAX_SAFE_INTEGER],
])('%p is %p', (value, number) => expect(toSafeInteger(value)).toBe(number));

test.each([9_007_199_254_740_992n, '9007199254740993', 1.5, '1.5', '', ' ', 'x', Number.NaN, Infinity])(
  '%p is refused instead of rounded',
  (value) => expect(() => toSafeInteger(value)).toThrow(RangeError),
);
