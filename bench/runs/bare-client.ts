import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { connect } from '@nats-io/transport-node';
import { inherited } from './environment.config';

/** Streams of the bare clients, configured as the product's own; their names are their subjects' first token. */
export const BARE_LOG = 'bare-log';
export const BARE_QUEUE = 'bare-queue';

const nanos = (seconds: number) => seconds * 1_000_000_000;
const stream = (name: string, retention: string) => ({
  name,
  retention,
  subjects: [`${name}.*`],
  storage: 'file',
  discard: 'new',
  num_replicas: 1,
  allow_direct: true,
  duplicate_window: nanos(10),
  max_consumers: 16,
});
const consumer = {
  durable_name: BARE_QUEUE,
  ack_policy: 'explicit',
  ack_wait: nanos(30),
  max_ack_pending: 2_000,
  deliver_policy: 'all',
};

export interface BareTask {
  /** `chain`: dependent, acknowledged publishes to a log; `loop`: publish, consume, acknowledge on a work queue. */
  kind: 'chain' | 'loop';
  messages: number;
  bytes: number;
  runs: number;
  concurrency: number;
}

export interface BareAnswer {
  milliseconds: number;
  latencies: number[];
}

/** Drives the bare process. */
export class BareClients {
  private constructor(
    private readonly child: ChildProcess,
    private readonly natsUrl: string,
  ) {}

  static async start(natsUrl: string): Promise<BareClients> {
    await ask(natsUrl, [
      [`STREAM.CREATE.${BARE_LOG}`, stream(BARE_LOG, 'limits')],
      [`STREAM.CREATE.${BARE_QUEUE}`, stream(BARE_QUEUE, 'workqueue')],
      [`CONSUMER.CREATE.${BARE_QUEUE}.${BARE_QUEUE}`, { stream_name: BARE_QUEUE, config: consumer }],
    ]);
    const child = fork(join(__dirname, 'bare.process.js'), [natsUrl], { env: inherited() });
    const clients = new BareClients(child, natsUrl);
    await clients.next();
    return clients;
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  /** Performs a task; what it wrote is purged outside of the time that it took. */
  async perform(task: BareTask): Promise<BareAnswer> {
    const answer = this.next<BareAnswer & { error?: string }>();
    this.child.send(task);
    const done = await answer;
    if (done.error !== undefined) throw new Error(done.error);
    await ask(this.natsUrl, [[`STREAM.PURGE.${BARE_LOG}`, {}]]);
    return done;
  }

  stop(): void {
    this.child.disconnect();
  }

  private next<T>(): Promise<T> {
    return new Promise((resolve, reject) => {
      const gone = () => reject(new Error('the bare client ended'));
      this.child.once('exit', gone);
      this.child.once('message', (message) => {
        this.child.off('exit', gone);
        resolve(message as T);
      });
    });
  }
}

async function ask(natsUrl: string, questions: [subject: string, body: object][]): Promise<void> {
  const connection = await connect({ servers: natsUrl });
  try {
    for (const [subject, body] of questions) {
      const answer = await connection.request(`$JS.API.${subject}`, JSON.stringify(body));
      const { error } = answer.json<{ error?: { description: string } }>();
      if (error) throw new Error(`${subject}: ${error.description}`);
    }
  } finally {
    await connection.close();
  }
}
