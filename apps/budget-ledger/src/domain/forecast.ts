const DAY_MS = 86_400_000;
/** Days whose mean stands for what is to come: a whole week, so that quiet week-ends count as they are. */
const MEAN_DAYS = 7;

export interface Course {
  now: number;
  /** End of the week, epoch ms. */
  ends: number;
  /** Settled in the week so far. */
  settled: number;
  /** Settled in the last seven days, whichever week they belong to. */
  lately: number;
  cap: number | null;
}

/** Where a week is heading if the mean of the last seven days goes on. Tokens are whole; the last instant is exclusive. */
export function forecast({ now, ends, settled, lately, cap }: Course): {
  tokensPerDay: number;
  expected: number;
  capReachedAt: number | null;
} {
  const perMs = lately / (MEAN_DAYS * DAY_MS);
  const expected = settled + Math.round(perMs * Math.max(0, ends - now));
  const tokensPerDay = Math.round(lately / MEAN_DAYS);
  if (cap === null) return { tokensPerDay, expected, capReachedAt: null };
  if (settled >= cap) return { tokensPerDay, expected, capReachedAt: now };
  const at = perMs === 0 ? Infinity : now + Math.ceil((cap - settled) / perMs);
  return { tokensPerDay, expected, capReachedAt: at < ends ? at : null };
}
