// node examples/publish-run-request.mjs <agent id> <input> [key]: starts a run over the bus, as any service would, and waits for its end.
// Reads where the bus is from .runyard/connection.json, which `npm start` writes (or from the file that RUNYARD_CONNECTION names).
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { jetstream } from '@nats-io/jetstream';
import { connect, createInbox, headers } from '@nats-io/transport-node';

const [agent_id, input, key = randomUUID()] = process.argv.slice(2);
if (!agent_id || !input) {
  console.error('usage: node examples/publish-run-request.mjs <agent id> <input> [key]');
  process.exit(2);
}
const file =
  process.env.RUNYARD_CONNECTION ?? path.resolve(import.meta.dirname, '../.runyard/connection.json');
const { org_id, nats_url } = JSON.parse(fs.readFileSync(file, 'utf8'));
const connection = await connect({ servers: nats_url });

// Listen before asking, so that no answer can be missed.
const inbox = createInbox();
const answers = connection.subscribe(inbox, { max: 1, timeout: 10_000 });
const events = connection.subscribe(`runyard.runs.*.${org_id}.*`);

const head = headers();
head.set('Runyard-Reply', inbox);
const request = { key, agent_id, input, requested_by: 'service:example' };
await jetstream(connection).publish(`runyard.requests.${org_id}`, JSON.stringify(request), {
  msgID: randomUUID(),
  headers: head,
});

let answer;
for await (const message of answers) answer = message.json();
console.log(answer);
if (!answer?.ok) process.exit(1);

if (answer.created)
  for await (const message of events) {
    if (!message.subject.endsWith(`.${answer.run_id}`)) continue;
    const batch = message.json();
    for (const { type, time } of batch) console.log(time, type);
    const end = batch.find(({ type }) => /\.Run(Succeeded|Failed|Cancelled|Skipped)\./.test(type));
    if (!end) continue;
    console.log(end.data.output?.text ?? end.data);
    break;
  }
await connection.close();
