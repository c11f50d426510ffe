import type { NatsConnection } from '@nats-io/transport-node';
import { RequestError } from '@nats-io/transport-node';

export type { NatsConnection, Subscription } from '@nats-io/transport-node';

/** An answer, or why there is none: the server knows at once when nobody listens. */
export type Asked = { answer: string } | { failed: 'no_responders' | 'timeout' };

/** Asks on a plain subject. Never throws: no answer is an answer here. */
export async function ask(
  connection: NatsConnection,
  subject: string,
  body: string,
  timeoutMs: number,
): Promise<Asked> {
  try {
    return { answer: (await connection.request(subject, body, { timeout: timeoutMs })).string() };
  } catch (error) {
    return { failed: error instanceof RequestError && error.isNoResponders() ? 'no_responders' : 'timeout' };
  }
}

/** Milliseconds since this connection came up, or back after a loss. */
export function connectedFor(connection: NatsConnection): () => number {
  let since = performance.now();
  void (async () => {
    for await (const status of connection.status())
      if (status.type === 'reconnect' || status.type === 'disconnect') since = performance.now();
  })();
  return () => performance.now() - since;
}
