import type { Installation } from './installation';

/** Answers that the door keeps for repeated requests, for a day: those that name one of some ids. Returns how many went. */
export async function forgetAnswers(
  { db }: Installation,
  org: string,
  ids: readonly string[],
): Promise<number> {
  const gone = await db.write((tx) =>
    tx.query(
      `DELETE FROM gateway.idempotency_keys k WHERE org_id = $1
         AND EXISTS (SELECT FROM unnest($2::text[]) id WHERE strpos(concat(k.caller, ' ', k.answer), id) > 0) RETURNING 1`,
      [org, [...ids]],
    ),
  );
  return gone.length;
}
