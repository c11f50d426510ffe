import { readdirSync, readFileSync } from 'node:fs';

/** Clock ticks a second in /proc; the same on every Linux that Node runs on. */
const TICKS = 100;

interface Stat {
  parent: number;
  /** Milliseconds of processor time, user and system. */
  own: number;
  /** The same of children that have ended and were waited for. */
  ended: number;
}

function statOf(pid: number | string): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name may hold spaces and brackets; the fields after it do not.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const at = (field: number) => fields[field - 3] ?? 0;
    const ms = 1_000 / TICKS;
    return { parent: at(4), own: (at(14) + at(15)) * ms, ended: (at(16) + at(17)) * ms };
  } catch {
    return undefined;
  }
}

/** Milliseconds of processor time of a process, and with `family` of its children, living and dead. */
export function processorMs(pid: number, family = false): number {
  const stat = statOf(pid);
  if (!stat) return 0;
  if (!family) return stat.own;
  const children = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((child) => statOf(child) ?? [])
    .filter(({ parent }) => parent === pid);
  return children.reduce((sum, child) => sum + child.own + child.ended, stat.own + stat.ended);
}

/** Resident memory of a process in MB. */
export function residentMb(pid: number): number {
  const line = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1] ?? Number.NaN) / 1_024;
}

/** Milliseconds of the machine's processors since it started: in use, and all of them. */
export function machineMs(): { busy: number; all: number } {
  const fields = (/^cpu +(.*)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1] ?? '').split(' ').map(Number);
  const ticks = fields.slice(0, 8).reduce((sum, each) => sum + each, 0);
  const [idle = 0, waiting = 0] = fields.slice(3, 5);
  return { busy: ((ticks - idle - waiting) * 1_000) / TICKS, all: (ticks * 1_000) / TICKS };
}
