/** Two ways to a nats-server without installing anything into the system. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

const RELEASE = '2.10.27';
/** The suite to take the package from, per Debian release: the first stable one whose nats-server is new enough. */
const SUITES = { bullseye: 'trixie', bookworm: 'trixie', trixie: 'trixie', forky: 'forky' };
const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';

/** Puts `from` at `to` in one step, so that a parallel start never runs half a file. */
function place(from, to) {
  const part = `${to}.${process.pid}`;
  copyFileSync(from, part);
  chmodSync(part, 0o755);
  renameSync(part, to);
}

async function inTemporaryFolder(work) {
  const dir = mkdtempSync(join(tmpdir(), 'nats-download-'));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** The mirror that this machine already uses; never a host of our own choice. */
async function mirrorInUse() {
  const { stdout } = await run('apt-get', ['indextargets', '--format', '$(SITE)', 'Created-By: Packages']);
  const site = stdout.split('\n').find((line) => line && !line.includes('security'));
  if (!site) throw new Error('apt knows no mirror');
  return site;
}

/** How this machine reaches its mirror (proxy, retries), so that the private configuration goes the same way. */
async function acquireSettings() {
  const { stdout } = await run('apt-config', ['dump']);
  return stdout
    .split('\n')
    .filter((line) => /^Acquire::(https?|Retries|ForceIPv4|ForceIPv6)\b/i.test(line))
    .join('\n');
}

function aptConfiguration(dir, arch, acquire) {
  return `Dir::Etc "${dir}/etc"; Dir::Etc::sourcelist "${dir}/etc/sources.list"; Dir::Etc::sourceparts "-";
Dir::Etc::preferencesparts "${dir}/etc/preferences.d"; Dir::Etc::netrc "/etc/apt/auth.conf"; Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
Dir::State "${dir}/state"; Dir::State::lists "${dir}/lists"; Dir::State::status "${dir}/state/status"; Dir::Cache "${dir}/cache";
APT::Architecture "${arch}"; APT::Architectures { "${arch}"; }; APT::Sandbox::User ""; Acquire::Languages "none";
Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false"; Debug::NoLocking "true";
${acquire}
`;
}

/** Fetches the distribution's own package with a private apt configuration and unpacks the binary to `target`. */
export async function downloadPackage(target, log) {
  const codename = /^VERSION_CODENAME=(\w+)/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1];
  const suite = SUITES[codename];
  if (!suite || !existsSync(KEYRING))
    throw new Error('this distribution offers no package that is known to be new enough');
  log(`Fetching the nats-server package of ${suite}`);
  await inTemporaryFolder(async (dir) => {
    const arch = (await run('dpkg', ['--print-architecture'])).stdout.trim();
    for (const sub of [
      'lists/partial',
      'cache/archives/partial',
      'etc/apt.conf.d',
      'etc/preferences.d',
      'state',
    ])
      mkdirSync(join(dir, sub), { recursive: true });
    writeFileSync(
      join(dir, 'etc/sources.list'),
      `deb [arch=${arch} signed-by=${KEYRING}] ${await mirrorInUse()} ${suite} main\n`,
    );
    writeFileSync(join(dir, 'state/status'), '');
    writeFileSync(join(dir, 'apt.conf'), aptConfiguration(dir, arch, await acquireSettings()));
    const options = {
      cwd: dir,
      env: { ...process.env, APT_CONFIG: join(dir, 'apt.conf') },
      timeout: 180_000,
    };
    await run('apt-get', ['-qq', 'update'], options);
    await run('apt-get', ['-qq', 'download', 'nats-server'], options);
    const archive = readdirSync(dir).find((file) => file.endsWith('.deb'));
    if (!archive) throw new Error('apt delivered no package');
    await run('dpkg-deb', ['-x', archive, 'unpacked'], options);
    place(join(dir, 'unpacked/usr/sbin/nats-server'), target);
  });
}

async function get(url) {
  const response = await fetch(url, { signal: AbortSignal.timeout(120_000) });
  if (!response.ok) throw new Error(`the official release answered ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}

/** Fetches the official release and checks it against the release's own list of digests. */
export async function downloadRelease(target, log) {
  const cpu = { x64: 'amd64', arm64: 'arm64' }[process.arch];
  if (!cpu || !['linux', 'darwin'].includes(process.platform))
    throw new Error(`no official release for ${process.platform} ${process.arch}`);
  const name = `nats-server-v${RELEASE}-${process.platform}-${cpu}`;
  const base = `https://github.com/nats-io/nats-server/releases/download/v${RELEASE}`;
  log(`Fetching the official nats-server ${RELEASE}`);
  const [archive, digests] = await Promise.all([get(`${base}/${name}.tar.gz`), get(`${base}/SHA256SUMS`)]);
  const digest = createHash('sha256').update(archive).digest('hex');
  if (
    !digests
      .toString()
      .split('\n')
      .some((line) => line.startsWith(digest) && line.endsWith(`${name}.tar.gz`))
  )
    throw new Error('the official release does not match its digest');
  await inTemporaryFolder(async (dir) => {
    writeFileSync(join(dir, 'release.tar.gz'), archive);
    await run('tar', ['-xzf', 'release.tar.gz'], { cwd: dir });
    place(join(dir, name, 'nats-server'), target);
  });
}
