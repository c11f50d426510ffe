import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { reachable, reachableHome } from './postgres-binaries.mjs';

const run = promisify(execFile);

/** The environment of server processes, without settings of libpq or of a locale that would change what they do. */
export function environment() {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|LC_|LANG)/.test(name));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

/** Where the data really lies: the wish, or a folder that the server's account can reach, remembered by a link. */
export function placeData(dataDir, account, log) {
  fs.mkdirSync(path.dirname(dataDir), { recursive: true });
  if (reachable(account, dataDir)) return dataDir;
  if (fs.existsSync(dataDir)) return fs.realpathSync(dataDir);
  const elsewhere = path.join(reachableHome(account), `data-${randomBytes(6).toString('hex')}`);
  fs.mkdirSync(elsewhere, { mode: 0o700 });
  fs.rmSync(dataDir, { force: true });
  fs.symlinkSync(elsewhere, dataDir);
  log(`Postgres cannot reach ${dataDir} as another user than root; its data lies in ${elsewhere}`);
  return elsewhere;
}

/** The superuser's password lies beside the data, written before the data exists: a crash leaves no data without it. */
export function superuserPassword(dataDir) {
  const file = `${dataDir}.password`;
  if (!fs.existsSync(file))
    fs.writeFileSync(file, randomBytes(24).toString('base64url'), { mode: 0o600, flag: 'wx' });
  return fs.readFileSync(file, 'utf8').trim();
}

/** Makes the data in a draft folder and renames it, so that a killed start never leaves half a cluster behind. */
export async function createCluster({ bin, major, account, dataDir, password }) {
  const draft = `${dataDir}.new`;
  fs.rmSync(draft, { recursive: true, force: true });
  fs.mkdirSync(draft, { recursive: true, mode: 0o700 });
  if (account) fs.chownSync(draft, account.uid, account.gid);
  const secret = `${draft}.password`;
  const locale =
    major >= 17
      ? ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C']
      : ['--locale=C.UTF-8'];
  const auth = password ? ['-A', 'scram-sha-256', `--pwfile=${secret}`] : ['-A', 'trust'];
  try {
    if (password) {
      fs.writeFileSync(secret, `${password}\n`, { mode: 0o600 });
      if (account) fs.chownSync(secret, account.uid, account.gid);
    }
    const args = [
      '-D',
      draft,
      '-U',
      'postgres',
      '-E',
      'UTF8',
      '--no-sync',
      '--no-instructions',
      ...locale,
      ...auth,
    ];
    await run(path.join(bin, 'initdb'), args, { ...account, env: environment(), cwd: '/' });
  } finally {
    fs.rmSync(secret, { force: true });
  }
  if (fs.existsSync(dataDir)) fs.rmdirSync(dataDir);
  fs.renameSync(draft, dataDir);
}
