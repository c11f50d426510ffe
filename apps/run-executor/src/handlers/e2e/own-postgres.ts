import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startPostgres } from '../../../../../deploy/local/postgres.mjs';

/** Spec-only: a Postgres of a spec's own, in order to be crashed. */
export interface OwnPostgres extends AsyncDisposable {
  url: string;
  /** Stops it in immediate mode (no checkpoint, every connection broken) and starts it again after `downMs`. */
  crash(downMs: number): Promise<void>;
}

export async function ownPostgres(): Promise<OwnPostgres> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-crash-'));
  // The server may run as another user than this process.
  fs.chmodSync(folder, 0o755);
  const settings = { dataDir: path.join(folder, 'postgres'), durable: false, trust: true };
  let server = await startPostgres(settings);
  const { url, port } = server;
  return {
    url,
    async crash(downMs) {
      process.kill(server.pid, 'SIGQUIT');
      await server.stop();
      await wait(downMs);
      server = await startPostgres({ ...settings, port });
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      fs.rmSync(folder, { recursive: true, force: true });
    },
  };
}
