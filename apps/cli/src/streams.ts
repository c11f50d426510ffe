import type { LogStream } from '@runyard/contracts';
import { CONTEXT_STREAMS, DEAD_STREAM, QUEUES } from '@runyard/contracts';
import { streamOperations } from '@runyard/event-log';
import type { ConsumerReport, StreamReport } from '@runyard/event-log';
import { newestOf, storedCheckpoints } from './checkpoints';
import type { StoredCheckpoint } from './checkpoints';
import { examples } from './command';
import type { Commands } from './command';
import { Installation } from './installation';
import { EXIT, table } from './terminal';
import type { Terminal } from './terminal';

export const LOG_STREAMS: readonly LogStream[] = [...new Set(Object.values(CONTEXT_STREAMS))];
const STREAMS: readonly string[] = [...LOG_STREAMS, ...Object.values(QUEUES), DEAD_STREAM];

export const streamsCommands: Commands = (program, line) => {
  program
    .command('streams')
    .summary('streams with their sizes, readers and lag')
    .description(
      'Shows every stream: how much it holds, who reads it and how far behind each reader is. A filtered reader moves with what concerns it, so its lag is the distance to the end of the stream, not the work that is left.',
    )
    .option('--json', 'print everything as JSON')
    .addHelpText(
      'before',
      examples(
        ['runyard streams', 'what lies there, and who is behind'],
        ['runyard streams --json | jq .streams[].name', 'for scripts'],
      ),
    )
    .action((options: { json?: boolean }) =>
      line.run(() =>
        Installation.use(line.file(), async (installation) => {
          const found = await look(installation);
          if (options.json) line.terminal.out(JSON.stringify(found));
          else show(found, line.terminal);
          return EXIT.ok;
        }),
      ),
    );
};

interface Found {
  streams: (Omit<StreamReport, 'config' | 'consumers'> & { consumers: ConsumerReport[] })[];
  missing: string[];
  readers: (StoredCheckpoint & { lag: number; same_incarnation: boolean })[];
}

async function look(installation: Installation): Promise<Found> {
  const { connection } = await installation.bus();
  const operations = streamOperations(connection);
  try {
    const streams: Found['streams'] = [];
    const missing: string[] = [];
    for (const name of STREAMS) {
      const report = await operations.report(name);
      if (!report) missing.push(name);
      else {
        const { config: _config, consumers: _count, ...rest } = report;
        streams.push({ ...rest, consumers: await operations.consumers(name) });
      }
    }
    const checkpoints = newestOf(await installation.db.read(storedCheckpoints));
    return { streams, missing, readers: checkpoints.map((one) => readerOf(one, streams)) };
  } finally {
    operations.close();
  }
}

function readerOf(one: StoredCheckpoint, streams: Found['streams']): Found['readers'][number] {
  const stream = streams.find(({ name }) => name === one.stream);
  return {
    ...one,
    lag: Math.max(0, (stream?.lastSequence ?? 0) - one.position),
    same_incarnation: stream?.incarnation === one.incarnation,
  };
}

function show({ streams, missing, readers }: Found, terminal: Terminal): void {
  const head = ['stream', 'messages', 'bytes', 'first', 'last', 'erased', 'subjects', 'consumers'];
  const rows = streams.map((one) => [
    one.name,
    one.messages,
    one.bytes,
    one.firstSequence,
    one.lastSequence,
    one.deleted,
    one.subjects,
    one.consumers.length,
  ]);
  for (const line of table(head, rows)) terminal.out(line);
  terminal.out('');
  const behind = readers.map((one) => [
    one.stream,
    `${one.schema}.${one.projection}@${one.version}`,
    one.position,
    one.lag,
    one.updatedAt.slice(0, 19).replace('T', ' '),
    one.same_incarnation ? '' : 'of another incarnation: the stream was lost or made anew',
  ]);
  for (const line of table(['stream', 'reader', 'position', 'lag', 'moved at (UTC)', ''], behind))
    terminal.out(line);
  const durable = streams.flatMap(({ name, consumers }) =>
    consumers
      .filter((one) => one.durable)
      .map((one) => [name, one.name, one.pending, one.unacknowledged, one.redelivered]),
  );
  if (durable.length > 0) terminal.out('');
  if (durable.length > 0)
    for (const line of table(['queue', 'durable consumer', 'waiting', 'in hand', 'again'], durable))
      terminal.out(line);
  for (const name of missing) terminal.say(`There is no stream ${name}; apply the stream definitions`);
}
