import type { LogStream } from '@runyard/contracts';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { createInbox } from '@nats-io/transport-node';
import { MESSAGE_ID } from './commit';
import type { TailParts } from './reading';
import { Reading } from './reading';
import { atLeast } from './server';
import type { RawCommit } from './types';

/** Servers from here on answer one request with many messages of a subject. */
const BATCH_SINCE = '2.11.0';
const BATCH = 1_000;
const LIMIT_MS = 4_000;
const END_OF_BATCH = 204;

/**
 * What lies on a subject from a sequence on, quickly and perhaps not quite up to date; a part where something goes wrong.
 * The caller goes on from the last commit with reads from the leader, so that nothing is missed.
 */
export function readBulk(
  parts: TailParts,
  stream: LogStream,
  subject: string,
  from: number,
): Promise<RawCommit[]> {
  return atLeast(parts.connection.info?.version ?? '', BATCH_SINCE)
    ? readDirect(parts.connection, stream, subject, from)
    : readThroughConsumer(parts, stream, subject, from);
}

async function readThroughConsumer(
  parts: TailParts,
  stream: LogStream,
  subject: string,
  from: number,
): Promise<RawCommit[]> {
  const reading = await Reading.start(parts, stream, from, { filter: subject });
  const limit = setTimeout(() => reading.end('too slow'), LIMIT_MS);
  const commits: RawCommit[] = [];
  try {
    while (commits.length < reading.pending) {
      const batch = await reading.next(reading.pending - commits.length);
      if (!batch) break;
      commits.push(...batch);
    }
    return commits;
  } finally {
    clearTimeout(limit);
    void reading.close();
  }
}

function readDirect(
  connection: NatsConnection,
  stream: LogStream,
  subject: string,
  from: number,
): Promise<RawCommit[]> {
  return new Promise((resolve) => {
    const commits: RawCommit[] = [];
    const done = () => {
      clearTimeout(limit);
      subscription.unsubscribe();
      resolve(commits);
    };
    const inbox = createInbox();
    const limit = setTimeout(done, LIMIT_MS);
    const subscription = connection.subscribe(inbox, {
      callback: (error, message) => {
        const commit = error ? undefined : directCommit(stream, message);
        if (commit) commits.push(commit);
        else done(); // the end of the batch, no such message, or no stream
      },
    });
    const query = JSON.stringify({ seq: from, next_by_subj: subject, batch: BATCH });
    connection.publish(`$JS.API.DIRECT.GET.${stream}`, query, { reply: inbox });
  });
}

/** A message of a direct get; undefined for a status such as {@link END_OF_BATCH}. */
export function directCommit(stream: LogStream, message: Msg): RawCommit | undefined {
  const { headers: all } = message;
  const sequence = Number(all?.get('Nats-Sequence') || 0);
  if (!all || !sequence || all.code === END_OF_BATCH) return undefined;
  const headers: Record<string, string> = {};
  for (const [name, values] of all) headers[name] = values[0] ?? '';
  return {
    stream,
    subject: headers['Nats-Subject'] ?? '',
    sequence,
    commitId: headers[MESSAGE_ID] ?? '',
    storedAt: Date.parse(headers['Nats-Time-Stamp'] ?? ''),
    headers,
    body: message.data,
  };
}
