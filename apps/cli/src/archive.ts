import { streamDefinitions } from '../../../deploy/nats/streams';
import { RestoreRefused, restoreStream } from '@runyard/event-log';
import type { Restored } from '@runyard/event-log';
import { archiveSource } from '@runyard/persistence';
import { carryOver } from './carry-over';
import { examples } from './command';
import type { Commands } from './command';
import { Installation } from './installation';
import { ProgressBar } from './progress-bar';
import { LOG_STREAMS } from './streams';
import { CommandFailed, confirm, EXIT } from './terminal';
import type { Terminal } from './terminal';

interface RestoreOptions {
  replicas?: string;
  yes?: boolean;
}

export const archiveCommands: Commands = (program, line) => {
  program
    .command('archive')
    .summary('the copy of the log in Postgres: restore a lost stream from it')
    .description('The archive: the copy of every commit in Postgres.')
    .command('restore <stream>')
    .description(
      'Rebuilds a lost stream from the archive, every commit at its own sequence, under a new incarnation. Stop the services first: what they append meanwhile is refused. Checkpoints go on where they were; cursors of clients get 410.',
    )
    .option('--replicas <n>', 'copies that the server keeps of it', '1')
    .option('--yes', 'do not ask')
    .addHelpText('before', examples(['runyard archive restore RUNS', 'after the server lost its directory']))
    .action((stream: string, options: RestoreOptions) =>
      line.run((signal) =>
        Installation.use(line.file(), (installation) =>
          restore(installation, stream, options, line.terminal, signal),
        ),
      ),
    );
};

async function restore(
  installation: Installation,
  name: string,
  options: RestoreOptions,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<number> {
  const definition = streamDefinitions({ replicas: Number(options.replicas) }).find(
    (one) => one.name === name,
  );
  if (!definition || !LOG_STREAMS.some((stream) => stream === name))
    throw new CommandFailed(`${name} is no stream of the log; there are ${LOG_STREAMS.join(', ')}`);
  const source = archiveSource(installation.db, name);
  const { lastSequence } = await source.state();
  if (lastSequence === 0) throw new CommandFailed(`The archive holds nothing of ${name}`);
  await confirm(terminal, `${name} is made anew from the archive, up to ${lastSequence}.`, name, options.yes);
  const { connection } = await installation.bus();
  const bar = new ProgressBar(terminal, name, 0, lastSequence);
  const commits = source.readBatches?.(0, signal, undefined, lastSequence) ?? [];
  const restored = await attempt(() =>
    restoreStream(connection, definition, { commits: asBatches(commits), lastSequence }, (at) =>
      bar.show(at),
    ),
  );
  bar.end();
  terminal.out(
    `${name}: ${restored.messages} commits up to ${lastSequence}, incarnation ${restored.incarnation}`,
  );
  return finish(installation, name, restored, terminal);
}

async function* asBatches<T>(batches: AsyncIterable<T> | readonly T[]): AsyncGenerator<T> {
  yield* batches;
}

async function attempt<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RestoreRefused) throw new CommandFailed(error.message);
    throw error;
  }
}

/** Readers go on in the new incarnation; who had read what is lost must be made anew. */
async function finish(
  { db }: Installation,
  name: string,
  { incarnation, lastSequence }: Restored,
  terminal: Terminal,
): Promise<number> {
  const { carried, ahead } = await db.write((tx) => carryOver(tx, name, incarnation, lastSequence));
  terminal.say(`${carried} readers go on where they were`);
  for (const { projection, position } of ahead)
    terminal.out(
      `${projection} had read up to ${position}, which is lost: runyard replay ${projection} --source archive`,
    );
  terminal.say('Start the services; the streams of queued work are made by applying the stream definitions');
  return ahead.length === 0 ? EXIT.ok : EXIT.found;
}
