import { createInbox } from '@nats-io/transport-node';
import type { EventLogConnection } from '@runyard/event-log';

/** What a feed tells of each commit of RUNS, once it is stored. */
export type OnCommit = (runId: string, body: Buffer) => void;

const NOTHING = Buffer.alloc(0);
const idOf = (subject: string): string => subject.slice(subject.lastIndexOf('.') + 1);

/**
 * Commits without their bodies: the cheapest way to see when each was stored. The server pushes them through a consumer
 * of its own; a core subscription would tell of commits before they are stored, and of refused ones.
 */
export async function feedOfHeaders({ connection }: EventLogConnection, onCommit: OnCommit): Promise<void> {
  const inbox = createInbox();
  connection.subscribe(inbox, {
    callback: (error, message) => void (error ?? onCommit(idOf(message.subject), NOTHING)),
  });
  const config = {
    deliver_subject: inbox,
    deliver_policy: 'new',
    ack_policy: 'none',
    headers_only: true,
    mem_storage: true,
    num_replicas: 1,
    filter_subject: 'runyard.runs.>',
  };
  // Delivered on the original subject, so that it need not be looked for anywhere else.
  const answer = await connection.request(
    '$JS.API.CONSUMER.CREATE.RUNS',
    JSON.stringify({ stream_name: 'RUNS', config }),
  );
  const { error } = answer.json<{ error?: { description: string } }>();
  if (error) throw new Error(error.description);
}

/** Commits with their bodies, as the gateway reads them for its viewers. */
export async function feedOfContents(
  { log }: EventLogConnection,
  signal: AbortSignal,
  onCommit: OnCommit,
): Promise<void> {
  const { lastSequence } = await log.state('RUNS');
  void (async () => {
    for await (const batch of log.tailBatches('RUNS', { after: lastSequence, signal }))
      for (const { subject, body } of batch)
        onCommit(idOf(subject), Buffer.from(body.buffer, body.byteOffset, body.byteLength));
  })();
}
