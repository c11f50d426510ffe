import fc from 'fast-check';
import { same } from './same';

describe('same', () => {
  it('is equality of JSON values, whatever the order of keys', () => {
    expect(same({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1 })).toBe(true);
    expect(same({ a: undefined }, {})).toBe(true);
    expect(same([1, 2], [2, 1])).toBe(false);
    expect(same([], {})).toBe(false);
    expect(same(null, {})).toBe(false);
  });

  it('agrees with a copy and with nothing that was changed in one place', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(same(value, JSON.parse(JSON.stringify(value)))).toBe(true);
        expect(same({ value }, { value: [value] })).toBe(false);
      }),
    );
  });
});
