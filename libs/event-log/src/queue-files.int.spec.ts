import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { AckPolicy, jetstream, jetstreamManager } from '@nats-io/jetstream';
import type { Consumer, JsMsg } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventually, startNats } from '@runyard/testing';

jest.setTimeout(60_000);

// What the erasure of a request relies on (docs/operations.md): how long the server's files hold what was acknowledged.

const SECRET = 'plaintext-of-a-request';

function filesOf(pid: number): string {
  const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  const config = readFileSync(args[args.indexOf('-c') + 1] ?? '', 'utf8');
  const store = /store_dir:?\s*"?([^"\s]+)/.exec(config)?.[1] ?? '';
  return join(store, 'jetstream/$G/streams/REQUESTS/msgs');
}

test('an acknowledged request stays in the file as long as one beside it waits, and goes with the last of them', async () => {
  await using nats = await startNats();
  const connection = await connect({ servers: nats.url });
  const manager = await jetstreamManager(connection);
  await manager.consumers.add('REQUESTS', { durable_name: 'spec', ack_policy: AckPolicy.Explicit });
  const consumer: Consumer = await jetstream(connection).consumers.get('REQUESTS', 'spec');
  const publish = (text: string) => jetstream(connection).publish('runyard.requests.org', text);
  const next = async (): Promise<JsMsg> => (await consumer.next({ expires: 20_000 }))!;
  const held = () => {
    const folder = filesOf(nats.pid);
    const files = readdirSync(folder).filter((file) => file.endsWith('.blk'));
    return files.some((file) => readFileSync(join(folder, file)).includes(SECRET));
  };
  for (const text of ['waits', SECRET, 'waits too']) await publish(text);
  const [first, secret, last] = [await next(), await next(), await next()];
  expect(held()).toBe(true);
  for (const message of [secret, first]) await message.ackAck();
  // Nothing reaches it any more: it is no message, and the file goes on.
  const gone = manager.streams.deleteMessage('REQUESTS', secret.seq, true);
  await expect(gone).rejects.toThrow('found');
  await manager.streams.purge('REQUESTS', { seq: last.seq });
  expect(held()).toBe(true);
  await last.ackAck();
  await eventually(async () => !held());
  // One that nothing waits beside goes at once.
  await publish(SECRET);
  await (await next()).ackAck();
  await eventually(async () => !held());
  await connection.close();
});
