import { MAX_COMMIT_BYTES } from '@runyard/contracts';
import type { StreamDefinition } from '@runyard/event-log';

const SECOND = 1_000_000_000;
const HEADERS = 16 * 1024;
/** The server's max_payload, which counts headers and body. */
const MAX_PAYLOAD = 1024 * 1024;

export interface StreamSettings {
  /** 1 on a single server; 3 in production. */
  replicas?: number;
  /** Bytes that each log may grow to; a full one refuses appends and forgets nothing. Default: no limit. */
  maxLogBytes?: number;
}

/** What all streams have in common: on disk, full means refused (never silently forgotten), erasure is possible. */
const base = (replicas: number) =>
  ({
    storage: 'file',
    discard: 'new',
    num_replicas: replicas,
    max_msgs: -1,
    max_msgs_per_subject: -1,
    max_age: 0,
    allow_direct: true,
    deny_delete: false,
    deny_purge: false,
  }) as const;

/**
 * A log. The duplicate window is as short as a resend takes: nothing relies on it (an append is made safe by its
 * expectation), and the server keeps every id of the window in memory.
 */
const log = (name: string, contexts: string[], settings: StreamSettings): StreamDefinition => ({
  ...base(settings.replicas ?? 1),
  name,
  description: `Events of ${contexts.join(' and ')}; one subject an aggregate, one message a commit`,
  subjects: contexts.map((context) => `runyard.${context}.*.*.*`),
  retention: 'limits',
  max_consumers: 1_000,
  max_msg_size: MAX_COMMIT_BYTES + HEADERS,
  max_bytes: settings.maxLogBytes ?? -1,
  duplicate_window: 10 * SECOND,
});

/** A work queue: a message is there until a worker has acknowledged it. Leaves room for the headers of a dead letter. */
const queue = (
  name: string,
  subject: string,
  description: string,
  settings: StreamSettings,
): StreamDefinition => ({
  ...base(settings.replicas ?? 1),
  name,
  description,
  subjects: [subject],
  retention: 'workqueue',
  max_consumers: 16,
  max_msg_size: MAX_PAYLOAD - 2 * HEADERS,
  max_bytes: -1,
  duplicate_window: 120 * SECOND,
});

/** Every stream of Runyard (architecture, section 2). Applied by a step of its own: `applyStreams`. */
export function streamDefinitions(settings: StreamSettings = {}): StreamDefinition[] {
  return [
    log('RUNS', ['runs', 'conversations', 'erasures', 'bulk'], settings),
    log('AGENTS', ['agents', 'catalogue', 'knowledge'], settings),
    log('PEOPLE', ['people'], settings),
    log('SCHEDULES', ['schedules'], settings),
    log('BUDGETS', ['budgets'], settings),
    log('APPROVALS', ['approvals', 'permissions'], settings),
    log('TASKS', ['tasks'], settings),
    queue('REQUESTS', 'runyard.requests.*', 'Run requests that wait for intake', settings),
    queue('WORK', 'runyard.work.*.*.*', 'Runs that are runnable and wait for an executor', settings),
    {
      ...base(settings.replicas ?? 1),
      name: 'DEAD',
      description: 'Messages that nobody could handle, kept until an operator retries or drops them',
      subjects: ['runyard.dead.*.*'],
      retention: 'limits',
      max_consumers: 100,
      max_msg_size: MAX_PAYLOAD,
      max_bytes: -1,
      duplicate_window: 120 * SECOND,
    },
  ];
}
