import type { DeadLetter } from '@runyard/event-log';

/** Length of a reason in a list. */
const REASON = 80;

const iso = (time: number): string => (Number.isFinite(time) ? new Date(time).toISOString() : '–');

/** A dead letter as one line of JSON. */
export function asJson(letter: DeadLetter): string {
  const { sequence, stream, consumer, originSequence, subject, attempts, reason, headers } = letter;
  return JSON.stringify({
    sequence,
    stream,
    consumer,
    origin_sequence: originSequence,
    subject,
    attempts,
    reason,
    first_at: iso(letter.firstAt),
    last_at: iso(letter.lastAt),
    headers,
    body: Buffer.from(letter.body).toString('utf8'),
  });
}

export const HEAD = ['sequence', 'from', 'consumer', 'given up (UTC)', 'attempts', 'reason'];

export const rowOf = (one: DeadLetter): (string | number)[] => [
  one.sequence,
  one.stream,
  one.consumer,
  iso(one.lastAt).slice(0, 19).replace('T', ' '),
  one.attempts,
  one.reason.replaceAll(/\s+/g, ' ').slice(0, REASON),
];

/** What is known of a dead letter, for people. */
export const factsOf = (letter: DeadLetter): [string, string | number][] => [
  ['sequence', letter.sequence],
  ['from', `${letter.stream} ${letter.originSequence} (${letter.subject})`],
  ['consumer', letter.consumer],
  ['attempts', letter.attempts],
  ['first stored', iso(letter.firstAt)],
  ['given up', iso(letter.lastAt)],
  ['reason', letter.reason],
  ...Object.entries(letter.headers).map(([name, value]): [string, string] => [`header ${name}`, value]),
];
