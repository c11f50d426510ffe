import fc from 'fast-check';
import { LONGEST_RANK, rankBetween, spread } from './rank';

describe('ranks', () => {
  it('lie between their neighbours, wherever cards go', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { maxLength: 120 }),
        (places) => {
          const column: string[] = [];
          for (const place of places) {
            const at = Math.floor(place * (column.length + 1));
            const rank = rankBetween(column[at - 1] ?? null, column[at] ?? null);
            column.splice(at, 0, rank);
          }
          for (let i = 1; i < column.length; i++) expect(column[i - 1]! < column[i]!).toBe(true);
        },
      ),
    );
  });

  it('stay short where cards only come to an end', () => {
    let last: string | null = null;
    let first: string | null = null;
    for (let i = 0; i < 5_000; i++) {
      last = rankBetween(last, null);
      first = rankBetween(null, first);
    }
    expect(last!.length).toBeLessThan(10);
    expect(first!.length).toBeLessThan(10);
  });

  it('go on where the counted ones are used up', () => {
    let last = 'zzzzzzi';
    let first = '000000i';
    for (let i = 0; i < 50; i++) {
      const [higher, lower] = [rankBetween(last, null), rankBetween(null, first)];
      expect(higher > last && lower < first).toBe(true);
      [last, first] = [higher, lower];
    }
  });

  it('grow between the same two, and are dealt anew in the same order', () => {
    const low = 'a';
    let high = 'b';
    while (high.length <= LONGEST_RANK) high = rankBetween(low, high);
    for (const cards of [1, 2, 3, 999, 50_000]) {
      const dealt = spread(cards);
      expect(new Set(dealt).size).toBe(cards);
      expect(dealt.toSorted((a, b) => (a < b ? -1 : 1))).toEqual(dealt);
    }
  });
});
