// One Postgres per jest run, unless the environment names one. Test files clone their databases on it (freshDatabase).
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startPostgres } from './postgres.mjs';

export default async function startTestServices() {
  if (process.env.TEST_DATABASE_URL) return;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'runyard-test-'));
  // The server may run as another user than this process.
  fs.chmodSync(folder, 0o755);
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  try {
    const server = await startPostgres({
      dataDir: path.join(folder, 'postgres'),
      durable: false,
      trust: true,
    });
    process.env.TEST_DATABASE_URL = server.url;
    globalThis.stopTestServices = async () => {
      await server.stop();
      delete process.env.TEST_DATABASE_URL;
      remove();
    };
  } catch (error) {
    remove();
    throw error;
  }
}
