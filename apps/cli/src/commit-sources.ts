import { connectEventLog, streamSource } from '@runyard/event-log';
import { archiveSource } from '@runyard/persistence';
import type { CommitSource, Database } from '@runyard/persistence';
import { CommandFailed } from './terminal';

/** Something to read commits from, and how to leave it. */
export interface OpenSource {
  source: CommitSource;
  close(): Promise<void>;
}

/** How long a server may take to answer the first connection; the log itself would wait for ever. */
const CONNECT_WITHIN_MS = 10_000;

/** The stream RUNS in the log. Throws CommandFailed where it no longer begins at 1: then only the archive has it all. */
export async function openStream(natsUrl: string): Promise<OpenSource> {
  const { username, password, host, protocol } = new URL(natsUrl);
  const connecting = connectEventLog({
    servers: `${protocol}//${host}`,
    name: 'runyard cli',
    ...(username && { user: decodeURIComponent(username), pass: decodeURIComponent(password) }),
  });
  const opened = await within(connecting, 'The log does not answer; is NATS running?');
  const source = streamSource(opened.log, 'RUNS');
  const { firstSequence } = await source.state();
  if (firstSequence > 1) {
    await opened.close();
    throw new CommandFailed(
      `The stream RUNS begins at ${firstSequence}; verify --from archive, which keeps what the stream dropped`,
    );
  }
  return { source, close: () => opened.close() };
}

/** The archive of the stream RUNS in Postgres. */
export const openArchive = (db: Database): OpenSource => ({
  source: archiveSource(db, 'RUNS'),
  close: async () => undefined,
});

async function within<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CommandFailed(otherwise)), CONNECT_WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
