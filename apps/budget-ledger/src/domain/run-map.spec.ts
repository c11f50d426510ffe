import * as fc from 'fast-check';
import { RunMap } from './run-map';

it('a map of runs never changes under those who hold it', () => {
  const empty = RunMap.empty<number>();
  const one = empty.with('a', 1);
  const two = one.with('b', 2).with('a', 3);
  expect([empty.size, one.size, two.size]).toEqual([0, 1, 2]);
  expect([one.get('a'), two.get('a'), two.without('a').has('a'), two.without('c')]).toEqual([
    1,
    3,
    false,
    two,
  ]);
  expect(two.entries()).toEqual([
    ['a', 3],
    ['b', 2],
  ]);
});

it('is what a plain map is, whatever is put in and taken out', () => {
  // Few names, so that they meet in a leaf and come again; `Aa` and `BB` have one hash.
  const name = fc.oneof(fc.constantFrom('Aa', 'BB', 'AaAa', 'BBBB', 'AaBB'), fc.string({ maxLength: 2 }));
  const change = fc.record({ name, value: fc.option(fc.nat()) });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const plain = new Map<string, number>();
      let map = RunMap.empty<number>();
      for (const { name: run, value } of changes) {
        map = value === null ? map.without(run) : map.with(run, value);
        if (value === null) plain.delete(run);
        else plain.set(run, value);
        expect([map.size, map.get(run), map.has(run)]).toEqual([plain.size, plain.get(run), plain.has(run)]);
      }
      expect(map.entries()).toEqual([...plain].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    }),
  );
});
