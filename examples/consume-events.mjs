// node examples/consume-events.mjs [ledger file]: a service that keeps a ledger of ended runs, and survives being killed at any moment.
// Reads where the bus is from .runyard/connection.json, which `npm start` writes (or from the file that RUNYARD_CONNECTION names).
//
// The rule: the position is written together with the effect. Here the effect is a line in a file and the position stands in it, so the
// last whole line says where to go on; with a database, put both into one transaction. No acknowledgements, no durable consumer.
import fs from 'node:fs';
import path from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';

const STREAM = 'RUNS';
const ENDS = /^runyard\.Run(Succeeded|Failed|Cancelled)\.v(\d+)$/;

const connectionFile =
  process.env.RUNYARD_CONNECTION ?? path.resolve(import.meta.dirname, '../.runyard/connection.json');
const { org_id, nats_url } = JSON.parse(fs.readFileSync(connectionFile, 'utf8'));
const ledger = process.argv[2] ?? 'ended-runs.ndjson';

/** Lines that are whole; half of one, written when we were killed, is cut off: its event is read again. */
function wholeLines(file) {
  if (!fs.existsSync(file)) return [];
  const text = fs.readFileSync(file);
  const end = text.lastIndexOf('\n') + 1;
  if (end < text.length) fs.truncateSync(file, end);
  const lines = text.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line));
}

const connection = await connect({ servers: nats_url, maxReconnectAttempts: -1 });
const { created, state } = await (await jetstreamManager(connection)).streams.info(STREAM);

const [head, ...entries] = wholeLines(ledger);
const { sequence } = entries.at(-1) ?? head ?? { sequence: 0 };
if (head && (head.created !== created || sequence > state.last_seq)) {
  console.error(
    `${STREAM} is not the stream that ${ledger} was made of: it was restored or made anew. Look before you go on.`,
  );
  process.exit(1);
}
if (!head) fs.appendFileSync(ledger, `${JSON.stringify({ stream: STREAM, created, sequence: 0 })}\n`);

const consumer = await jetstream(connection).consumers.get(STREAM, {
  filter_subjects: `runyard.runs.*.${org_id}.*`,
  opt_start_seq: sequence + 1,
});
console.log(`going on after ${sequence}`);

let stopping = false;
const messages = await consumer.consume();
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    stopping = true;
    messages.stop();
  });

for await (const message of messages) {
  // A message is one decision with all its events: they hold together, so they become one effect.
  const end = message.json().find(({ type }) => ENDS.test(type));
  if (!end) continue;
  const { data, subject: run_id, time } = end;
  const entry = {
    sequence: message.seq,
    run_id,
    time,
    outcome: ENDS.exec(end.type)[1],
    // Members that a newer or older version does not have are no error.
    tokens: data.spend ? data.spend.own + data.spend.children : null,
  };
  fs.appendFileSync(ledger, `${JSON.stringify(entry)}\n`);
  console.log(`${entry.time} ${run_id} ${entry.outcome}`);
  if (stopping) break;
}
await connection.close();
