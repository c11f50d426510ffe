import { connect, createInbox, headers } from '@nats-io/transport-node';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { BareAnswer, BareTask } from './bare-client';
import { BARE_LOG, BARE_QUEUE } from './bare-client';

/**
 * The physical limit, as a process of its own: the same number of messages by a client that does nothing else. One
 * private inbox instead of the client library's own request, which costs twice as much: a slow limit would flatter us.
 */
class BareClient {
  private readonly prefix = `${createInbox()}.`;
  private readonly pending = new Map<string, (message: Msg) => void>();
  private readonly delivered = new Map<string, () => void>();
  private serial = 0;

  constructor(private readonly connection: NatsConnection) {
    connection.subscribe(`${this.prefix}*`, {
      callback: (_error, message) => {
        this.pending.get(message.subject)?.(message);
        this.pending.delete(message.subject);
      },
    });
  }

  /** One chain: each publish waits for the acknowledgement of the one before and expects its sequence. */
  async chain(subject: string, body: Uint8Array, messages: number): Promise<void> {
    let expected = 0;
    for (let i = 0; i < messages; i++) {
      const expectation = headers();
      expectation.set('Nats-Expected-Last-Subject-Sequence', String(expected));
      expected = await this.publish(subject, body, expectation);
    }
  }

  /** One loop: each message is published, acknowledged as stored, consumed and acknowledged as done before the next. */
  async loop(subject: string, body: Uint8Array, messages: number): Promise<void> {
    for (let i = 0; i < messages; i++) {
      const consumed = new Promise<void>((resolve) => this.delivered.set(subject, resolve));
      await Promise.all([this.publish(subject, body), consumed]);
    }
  }

  /** Takes everything off the queue and acknowledges it. */
  consume(stream: string, consumer: string): void {
    const inbox = createInbox();
    const ask = () =>
      this.connection.publish(`$JS.API.CONSUMER.MSG.NEXT.${stream}.${consumer}`, '{"batch":1000}', {
        reply: inbox,
      });
    let asked = 1_000;
    this.connection.subscribe(inbox, {
      callback: (_error, message) => {
        if (!message.reply) return;
        message.respond('+ACK');
        this.delivered.get(message.subject)?.();
        if (--asked > 500) return;
        asked += 1_000;
        ask();
      },
    });
    ask();
  }

  private async publish(
    subject: string,
    body: Uint8Array,
    expectation?: ReturnType<typeof headers>,
  ): Promise<number> {
    const reply = this.prefix + (this.serial++).toString(36);
    const message = await new Promise<Msg>((resolve) => {
      this.pending.set(reply, resolve);
      this.connection.publish(subject, body, { reply, headers: expectation });
    });
    const ack = message.json<{ seq: number; error?: { description: string } }>();
    if (ack.error) throw new Error(ack.error.description);
    return ack.seq;
  }
}

let serial = 0;

async function perform(client: BareClient, task: BareTask): Promise<BareAnswer> {
  const body = new Uint8Array(task.bytes).fill(46);
  const latencies: number[] = [];
  let left = task.runs;
  const worker = async (name: string) => {
    while (left-- > 0) {
      const startedAt = performance.now();
      if (task.kind === 'chain')
        await client.chain(`${BARE_LOG}.c${process.pid}-${serial++}`, body, task.messages);
      else await client.loop(`${BARE_QUEUE}.${name}`, body, task.messages);
      latencies.push(performance.now() - startedAt);
    }
  };
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: task.concurrency }, (_, index) => worker(`w${index}`)));
  return { milliseconds: performance.now() - startedAt, latencies };
}

async function main(natsUrl: string): Promise<void> {
  const client = new BareClient(await connect({ servers: natsUrl }));
  client.consume(BARE_QUEUE, BARE_QUEUE);
  process.on('message', (task: BareTask) => {
    perform(client, task).then(
      (answer) => process.send?.(answer),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}

void main(process.argv[2] ?? '');
