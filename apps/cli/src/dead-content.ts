import { deadLetters, runIdOf } from '@runyard/event-log';
import type { DeadLetter } from '@runyard/event-log';
import type { Installation } from './installation';

const PAGE = 500;

/** Erases dead letters that hold requests of an org: those of the given runs, or all. Returns how many. */
export async function dropDeadLetters(
  installation: Installation,
  org: string,
  runIds?: ReadonlySet<string>,
): Promise<number> {
  const letters = deadLetters((await installation.bus()).connection);
  let dropped = 0;
  try {
    for (let after = 0; ;) {
      const page = await letters.list({ after, limit: PAGE });
      for (const letter of page) {
        after = letter.sequence;
        if (!isOf(letter, org, runIds)) continue;
        await letters.drop(letter.sequence);
        dropped += 1;
      }
      if (page.length < PAGE) return dropped;
    }
  } finally {
    letters.close();
  }
}

/** Subjects of queues carry the org, those of work the run; a request names its run by its key. */
function isOf({ subject, body }: DeadLetter, org: string, runIds?: ReadonlySet<string>): boolean {
  const tokens = subject.split('.');
  if (!tokens.includes(org)) return false;
  if (!runIds) return true;
  if (tokens.some((token) => runIds.has(token))) return true;
  try {
    const { key } = JSON.parse(Buffer.from(body).toString('utf8')) as { key?: unknown };
    return typeof key === 'string' && runIds.has(runIdOf(org, key));
  } catch {
    return false;
  }
}
