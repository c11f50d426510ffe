const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';
const BASE = DIGITS.length;
/** Digits that count cards from the ends of a column. */
const WIDTH = 6;
/** Room between neighbours at the ends: so many cards fit in on one side of a card before ranks grow. */
const STEP = BASE ** 3;
/** No rank ends with the smallest digit, or nothing would fit in below it. */
const LAST = 'i';

/** Longer ranks are dealt anew: rows and events would grow with every card that goes between the same two. */
export const LONGEST_RANK = 40;

const digitAt = (rank: string, index: number): number => DIGITS.indexOf(rank.charAt(index));

const countOf = (rank: string): number => {
  let count = 0;
  for (let i = 0; i < WIDTH; i++) count = count * BASE + (i < rank.length ? digitAt(rank, i) : 0);
  return count;
};

function counted(count: number): string | undefined {
  if (count < 0 || count >= BASE ** WIDTH) return undefined;
  return count.toString(BASE).padStart(WIDTH, '0') + LAST;
}

/** A rank above `low` and below `high`, compared by code units; null: the end of the column. `low` must be below `high`. */
export function rankBetween(low: string | null, high: string | null): string {
  if (low === null && high === null) return counted(Math.floor(BASE ** WIDTH / 2)) ?? LAST;
  const atEnd = low !== null && high === null ? counted(countOf(low) + STEP) : undefined;
  const atStart = low === null && high !== null ? counted(countOf(high) - STEP) : undefined;
  return atEnd ?? atStart ?? middle(low ?? '', high);
}

/** The shortest text between two: digit by digit, as far as both agree, then halfway. */
function middle(low: string, high: string | null): string {
  let rank = '';
  let above = high;
  for (let i = 0; ; i++) {
    const least = i < low.length ? digitAt(low, i) : 0;
    const most = above !== null && i < above.length ? digitAt(above, i) : BASE;
    if (most - least > 1) return rank + DIGITS.charAt(Math.floor((least + most) / 2));
    rank += DIGITS.charAt(least);
    // From here on everything is below `high`.
    if (most > least) above = null;
  }
}

/** Ranks for a whole column, first to last, with equal room everywhere. */
export function spread(cards: number): string[] {
  const step = Math.min(STEP, Math.floor(BASE ** WIDTH / (cards + 1)));
  const first = Math.floor(BASE ** WIDTH / 2) - Math.floor(cards / 2) * step;
  return Array.from({ length: cards }, (_, i) => counted(first + i * step) ?? LAST);
}
