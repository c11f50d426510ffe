import fc from 'fast-check';
import { calculate } from './arithmetic';
import { ArithmeticError } from './decimal';

describe('calculate', () => {
  it.each([
    ['0.1 + 0.2', '0.3'],
    ['19.99 * 3', '59.97'],
    ['1 / 8', '0.125'],
    ['1 / 3', '0.3333333333333333333333333333333333 (rounded)'],
    ['2 / 3 * 3', '2 (rounded)'],
    ['1000000000000000000000 / 7', '142857142857142857142.8571428571429 (rounded)'],
    ['10 / 4', '2.5'],
    ['1e6 / 1e-3', '1000000000'],
    ['100 / 0.5', '200'],
    ['7 % 3', '1'],
    ['-7 % 3', '-1'],
    ['5.5 % 2', '1.5'],
    ['-2 ** 2', '-4'],
    ['(-2) ** 2', '4'],
    ['--2 ** 2', '4'],
    ['2 ** 3 ** 2', '512'],
    ['2 ** -2', '0.25'],
    ['2 ** 0.5', '1.4142135623731 (rounded)'],
    ['(-1) ** 1000001', '-1'],
    ['0 ** 0', '1'],
    ['1.5e3 + .5', '1500.5'],
    ['sqrt(144)', '12'],
    ['sqrt(2)', '1.414213562373095048801688724209698 (rounded)'],
    ['sqrt(0.25)', '0.5'],
    ['round(2.345, 2)', '2.35'],
    ['round(-2.5)', '-3'],
    ['round(1234, -2)', '1200'],
    ['floor(-1.2)', '-2'],
    ['ceil(1.2)', '2'],
    ['trunc(-1.8)', '-1'],
    ['(1 / 3) ** 60 * 3 ** 60', '1 (rounded)'],
    ['1 / 3 * 3 == 1', 'true'],
    ['2 * pi', '6.283185307179586476925286766559006 (rounded)'],
    ['1.05 ** 30 > 4.32', 'true'],
    ['min(3, 1, 2)', '1'],
    ['max(3, 1, 2)', '3'],
    ['mean(1, 2, 4)', '2.333333333333333333333333333333333 (rounded)'],
    ['sum(0.1, 0.2, 0.3)', '0.6'],
    ['abs(-3)', '3'],
    ['3 * (4 - (2 + 1))', '3'],
    ['0.1 + 0.2 == 0.3', 'true'],
    ['2 > 3', 'false'],
    ['123456789012345678901234567890 + 1', '123456789012345678901234567891'],
  ])('%s = %s', (expression, result) => {
    expect(calculate(expression)).toBe(result);
  });

  it.each([
    ['', 'cannot be read|only one expression'],
    ['1 +', 'cannot be read'],
    ['1 2', 'only one expression'],
    ['1 / 0', 'division by zero'],
    ['5 % 0', 'division by zero'],
    ['sqrt(-1)', 'negative'],
    ['"a" + 1', 'not a number'],
    ['constructor', 'not known'],
    ['this', 'only one expression'],
    ['a.b', 'only one expression'],
    ['abs.constructor("x")', 'not known'],
    ['__proto__(1)', 'not known'],
    ['abs()', 'takes 1'],
    ['abs(1, 2)', 'takes 1'],
    ['1 && 2', 'operator && is not known'],
    ['!1', 'operator ! is not known'],
    ['(1 < 2) + 1', 'not a number'],
    ['9 ** 9 ** 9', 'more than 1000 digits'],
    ['0.1 ** 100000', 'more than 1000 digits'],
    ['(1 / 3) ** 100000', 'more than 1000 digits'],
    ['1e9999', 'more than 1000 digits'],
    ['ln(0)', 'not a finite number'],
    ['1'.repeat(3_000), 'longer than 2000'],
    [`${'('.repeat(400)}1${')'.repeat(400)}`, 'nested deeper'],
  ])('refuses %.60s', (expression, reason) => {
    expect(() => calculate(expression)).toThrow(ArithmeticError);
    expect(() => calculate(expression)).toThrow(new RegExp(reason));
  });

  it('adds and subtracts cents exactly', () => {
    const cents = fc.integer({ min: -1_000_000, max: 1_000_000 });
    const money = (n: number) =>
      `(${n < 0 ? '-' : ''}${Math.floor(Math.abs(n) / 100)}.${String(Math.abs(n) % 100).padStart(2, '0')})`;
    fc.assert(
      fc.property(cents, cents, (a, b) => {
        expect(calculate(`(${money(a)} + ${money(b)}) * 100 == ${`(${a + b})`}`)).toBe('true');
      }),
    );
  });

  it('answers or refuses any text, and never fails otherwise', () => {
    const piece = fc.constantFrom(
      '1',
      '2.5',
      '+',
      '-',
      '**',
      '*',
      '/',
      '%',
      '(',
      ')',
      ',',
      'abs',
      'round',
      'x',
      '"',
      '.',
      '[',
      ' ',
      '<',
      '=',
      '\0',
      '\ud83d',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 25 }), (pieces) => {
        try {
          expect(typeof calculate(pieces.join(''))).toBe('string');
        } catch (error) {
          expect(error).toBeInstanceOf(ArithmeticError);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});
