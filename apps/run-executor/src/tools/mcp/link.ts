import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';

/** Under this name a call's idempotency key travels in the request's `_meta`. */
export const KEY_IN_META = 'runyard/idempotency-key';

/** Watches the stream that answers the call of one idempotency key. */
export type StreamWatch = (key: string) => {
  /** Rejects where the stream broke and was not taken up again, or was too large. Never resolves. */
  failed: Promise<never>;
  end(): void;
};

/** A way to reach a server, not yet connected. */
export interface Link {
  transport: Transport;
  /** Where the transport can tell that the stream of one call broke. */
  watch?: StreamWatch;
  /** Ends the connection politely and whatever was started for it. */
  end(client: Client): Promise<void>;
}
