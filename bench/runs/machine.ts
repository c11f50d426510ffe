import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { findNatsServer } from '../../deploy/local/nats.mjs';

/** What figures depend on. */
export async function machineFacts(): Promise<Record<string, string>> {
  const version = execFileSync(await findNatsServer(), ['--version'], { encoding: 'utf8' }).trim();
  const disk = /^\S+ \/ (\S+)/m.exec(readFileSync('/proc/mounts', 'utf8'))?.[1] ?? 'unknown';
  return {
    processors: `${cpus().length} x ${cpus()[0]?.model ?? 'unknown'}`,
    memory: `${Math.round(totalmem() / 2 ** 30)} GiB`,
    disk: `${disk} on /`,
    kernel: `Linux ${release()}`,
    node: `Node ${process.version}`,
    nats: version,
  };
}
