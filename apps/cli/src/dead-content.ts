import { deadLetters, runIdOf } from '@runyard/event-log';
import type { DeadLetter } from '@runyard/event-log';
import type { Installation } from './installation';

const PAGE = 500;

/** Whose dead letters go: what names one of these. */
export interface DeadOf {
  runs: readonly string[];
  /** Requests for these agents, also those that never became a run. */
  agents?: readonly string[];
  /** Requests by these, such as `user:…`. */
  requesters?: readonly string[];
}

/** Erases dead letters of an org: those that name one of the given, or all. Returns how many. */
export async function dropDeadLetters(installation: Installation, org: string, of?: DeadOf): Promise<number> {
  const letters = deadLetters((await installation.bus()).connection);
  let dropped = 0;
  try {
    for (let after = 0; ;) {
      const page = await letters.list({ after, limit: PAGE });
      for (const letter of page) {
        after = letter.sequence;
        if (!isOf(letter, org, of)) continue;
        await letters.drop(letter.sequence);
        dropped += 1;
      }
      if (page.length < PAGE) return dropped;
    }
  } finally {
    letters.close();
  }
}

/** What a letter's body may say of whom it is about. */
interface Content {
  key?: unknown;
  agent_id?: unknown;
  requested_by?: unknown;
  /** Of a reaction's letter: the commit that it gave up on. */
  subject?: unknown;
}

function contentOf({ body }: DeadLetter): Content {
  try {
    const content: unknown = JSON.parse(Buffer.from(body).toString('utf8'));
    return typeof content === 'object' && content !== null ? content : {};
  } catch {
    return {};
  }
}

/** Subjects of queues carry the org, those of work the run; a request names its run by its key, a reaction's letter a commit. */
function isOf(letter: DeadLetter, org: string, of: DeadOf | undefined): boolean {
  const { key, agent_id: agent, requested_by: requester, subject } = contentOf(letter);
  const tokens = `${letter.subject}.${String(subject)}`.split('.');
  if (!tokens.includes(org)) return false;
  if (!of) return true;
  const named = [...tokens, ...(typeof key === 'string' ? [runIdOf(org, key)] : [])];
  return (
    of.runs.some((run) => named.includes(run)) ||
    (of.agents ?? []).some((id) => id === agent) ||
    (of.requesters ?? []).some((who) => who === requester)
  );
}
