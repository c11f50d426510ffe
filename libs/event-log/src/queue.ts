/** A message of a work queue. */
export interface QueueMessage {
  subject: string;
  sequence: number;
  headers: Record<string, string>;
  body: Uint8Array;
  /** 1 for the first delivery. Counts failures, hung handlers and lost processes; RetryLater does not raise it. */
  attempt: number;
  /** Keeps the message from being redelivered while work goes on. Called automatically every third of the ack wait. */
  working(): void;
}

/** Thrown by a queue handler: hand it over again after `delayMs`. Does not count as a failed attempt. */
export class RetryLater extends Error {
  constructor(
    readonly delayMs: number,
    message: string,
  ) {
    super(message);
  }
}

/** Thrown by a queue handler: no retry can help; the message goes to the dead letters with this reason. */
export class Poison extends Error {}

export interface QueueConsumerOptions {
  queue: 'REQUESTS' | 'WORK';
  /** Durable name: a literal, listed in the service's README. */
  durable: string;
  /** Messages handled side by side. */
  concurrency: number;
  /** Attempts before a message that keeps failing goes to the dead letters. Default 12 (eleven minutes of growing delays). */
  maxAttempts?: number;
  /** Milliseconds without a sign of life after which the server hands a message to another worker. Default 15,000. */
  ackWaitMs?: number;
  /** Milliseconds after which a handler counts as hung; its attempt has failed. Default 300,000. */
  handlerLimitMs?: number;
  /** Milliseconds that `stop` waits for handlers. Default 20,000. */
  stopLimitMs?: number;
  handler: (message: QueueMessage) => Promise<void>;
  /** Called before a message is dead-lettered, so that the owner can fence what it stands for (P2.6). */
  onDead?: (message: QueueMessage, reason: string) => Promise<void>;
}

export interface QueueConsumer {
  /** Stops taking messages, waits for those in hand (bounded), gives back the rest. */
  stop(): Promise<void>;
  /** Milliseconds since the consumer last heard from the server; readiness is red when it is old. */
  lastSeenMs(): number;
}

export interface WorkQueues {
  /** Publishes with a random message id (P1.1); resolves when stored. */
  publish(subject: string, body: unknown, headers?: Record<string, string>): Promise<{ sequence: number }>;
  consume(options: QueueConsumerOptions): Promise<QueueConsumer>;
}
