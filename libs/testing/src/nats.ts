import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { applyStreams } from '@runyard/event-log';
import { connect } from '@nats-io/transport-node';
import { startNatsServer } from '../../../deploy/local/nats.mjs';
import { streamDefinitions } from '../../../deploy/nats/streams';

export interface StartNatsOptions {
  /** Sync every message to disk, as the product does. Default false: tests survive kill -9, not power loss. */
  syncAlways?: boolean;
  /** Create Runyard's streams. Default true. */
  streams?: boolean;
}

/** A real nats-server of a test's own, on loopback, gone with its data when disposed of. */
export interface TestNats extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  /** Ends it in order; `restart` brings it back. */
  stop(): Promise<void>;
  /** kill -9. */
  kill(): Promise<void>;
  /** Starts it again on the same port and data. Stops it first where it runs. */
  restart(): Promise<void>;
  /** SIGSTOP: it keeps its connections and says nothing. Resolves when all its threads stand. */
  pause(): Promise<void>;
  /** SIGCONT. */
  resume(): void;
}

/** Starts a nats-server for one test file: `await using nats = await startNats()`. */
export async function startNats(options: StartNatsOptions = {}): Promise<TestNats> {
  const dir = mkdtempSync(join(tmpdir(), 'runyard-nats-'));
  const settings = { dir, syncAlways: options.syncAlways ?? false };
  let server = await startNatsServer(settings);
  let running = true;
  const { url, port } = server;
  const signal = (name: NodeJS.Signals) => running && process.kill(server.pid, name);
  const end = async (how: 'stop' | 'kill') => {
    if (!running) return;
    signal('SIGCONT');
    running = false;
    await server[how]();
  };
  if (options.streams ?? true) await applyAllStreams(url);
  return {
    url,
    port,
    get pid() {
      return server.pid;
    },
    stop: () => end('stop'),
    kill: () => end('kill'),
    async restart() {
      await end('stop');
      server = await startNatsServer({ ...settings, port });
      running = true;
    },
    async pause() {
      signal('SIGSTOP');
      await standing(server.pid);
    },
    resume: () => void signal('SIGCONT'),
    async [Symbol.asyncDispose]() {
      await end('kill');
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** The signal is delivered in its own time; on systems without /proc a moment has to do. */
async function standing(pid: number): Promise<void> {
  for (let i = 0; i < 100; i++) {
    await wait(10);
    const state = existsSync('/proc')
      ? readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.[0]
      : undefined;
    if (state === 'T' || (state === undefined && i > 10)) return;
  }
}

async function applyAllStreams(url: string): Promise<void> {
  const connection = await connect({ servers: url });
  try {
    await applyStreams(connection, streamDefinitions());
  } finally {
    await connection.close();
  }
}
