import { Temporal } from 'temporal-polyfill';

/**
 * Local times are "naive": the wall clock's reading as epoch milliseconds, as if the zone were UTC. The rule (ADR 0014):
 * a time that does not exist stands for the first instant after the gap, one that exists twice for the first of the two.
 * So the mapping never decreases.
 */

const EARLIER = { disambiguation: 'earlier' } as const;
const LATER = { disambiguation: 'later' } as const;

const zoned = (at: number, zone: string): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone);

const offsetAt = (at: number, zone: string): number => zoned(at, zone).offsetNanoseconds / 1e6;

/** What the wall clock of a zone reads at an instant. */
export const naiveAt = (at: number, zone: string): number => at + offsetAt(at, zone);

/** The instant that a local time stands for. */
export function instantOf(naive: number, zone: string): number {
  const wanted = zoned(naive, 'UTC').toPlainDateTime();
  const first = wanted.toZonedDateTime(zone, EARLIER);
  if (first.toPlainDateTime().equals(wanted)) return first.epochMilliseconds;
  return endOfGap(first.epochMilliseconds, wanted.toZonedDateTime(zone, LATER).epochMilliseconds, zone);
}

/** `gap` where the local time does not exist, `fold` where it exists twice. */
export function markOf(naive: number, zone: string): 'gap' | 'fold' | null {
  const wanted = zoned(naive, 'UTC').toPlainDateTime();
  const first = wanted.toZonedDateTime(zone, EARLIER);
  if (!first.toPlainDateTime().equals(wanted)) return 'gap';
  return wanted.toZonedDateTime(zone, LATER).epochMilliseconds === first.epochMilliseconds ? null : 'fold';
}

/** The change of offset lies after `before` and not after `after`; halving finds its millisecond in at most 28 looks. */
function endOfGap(before: number, after: number, zone: string): number {
  const offset = offsetAt(after, zone);
  let [low, high] = [before, after];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (offsetAt(middle, zone) === offset) high = middle;
    else low = middle;
  }
  return high;
}

/** The wall clock as text, with the offset that holds: `2026-03-29T03:00:00+02:00`. */
export const localText = (at: number, zone: string): string =>
  zoned(at, zone).toString({ timeZoneName: 'never', smallestUnit: 'second' });
