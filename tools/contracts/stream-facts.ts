import { streamDefinitions } from '../../deploy/nats/streams';

const SECOND = 1_000_000_000;

/** What a client of JetStream must know of a stream; the NATS binding of AsyncAPI has no words for it. */
export function jetstreamFacts(stream: string): Record<string, unknown> {
  const found = streamDefinitions().find(({ name }) => name === stream);
  if (!found) throw new Error(`There is no stream ${stream}`);
  return {
    stream: found.name,
    subjects: found.subjects,
    storage: found.storage,
    retention: found.retention,
    discard: found.discard,
    max_msg_size: found.max_msg_size,
    duplicate_window_seconds: Number(found.duplicate_window) / SECOND,
    ...(found.retention === 'workqueue' ? QUEUE : LOG),
  };
}

const LOG = {
  consume: 'ordered consumer from your own position + 1; no durable consumer, no acknowledgement',
  position: '<stream sequence>.<index in the batch>',
};
const QUEUE = { consume: 'by Runyard alone; a message is there until it has been handled' };
