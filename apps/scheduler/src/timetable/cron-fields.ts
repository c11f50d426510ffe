import { Cron } from 'croner';

/** Parsed expressions that are kept; parsing takes longer than asking. */
const MOST_KEPT = 2_000;
const kept = new Map<string, Cron>();

/**
 * The next local time after `naive` that the five fields name, read as if in UTC so that no zone's rule but ours applies;
 * null: never again (30 February). Day of month and day of week are alternatives where both are given, as in crontab(5).
 * Throws Error on fields that make no sense.
 */
export function nextMatch(expression: string, naive: number): number | null {
  return fieldsOf(expression).nextRun(new Date(naive))?.getTime() ?? null;
}

function fieldsOf(expression: string): Cron {
  const known = kept.get(expression);
  if (known) return known;
  // "?" would stand for the time of parsing; where it is written elsewhere it means "any".
  const fields = new Cron(expression.trim().replaceAll('?', '*'), {
    utcOffset: 0,
    paused: true,
    legacyMode: true,
  });
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(expression, fields);
  return fields;
}
