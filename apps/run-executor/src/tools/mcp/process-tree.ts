import { readdirSync, readFileSync } from 'node:fs';

/**
 * Name of the environment variable that marks a tool server and everything that it starts: a process that left its group
 * (setsid) and whose parent has ended is found by nothing else. One that also empties its environment is lost.
 */
export const MARK = 'RUNYARD_TOOL_SERVER';

/** A process; ids are used again, so only together with its start is it the same one. */
export interface Traced {
  pid: number;
  /** Clock ticks since the machine started, as the kernel writes them. */
  start: string;
}

interface Stat extends Traced {
  parent: number;
}

/** A process as the kernel tells it; undefined: there is none, or it has ended and waits for its parent. */
function statOf(pid: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name before may hold anything, parentheses too; the state comes third, the start is the 22nd.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const [state, parent] = fields;
    return state === 'Z' || state === 'X'
      ? undefined
      : { pid, parent: Number(parent), start: fields[19] ?? '' };
  } catch {
    return undefined;
  }
}

/** The process that has this id now. Undefined where there is none, or on a system without /proc. */
export function traced(pid: number): Traced | undefined {
  const stat = statOf(pid);
  return stat && { pid, start: stat.start };
}

/** Whether a process carries the mark; those of other users cannot be looked into, and could not be signalled. */
function isMarked(pid: number, mark: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${MARK}=${mark}\0`);
  } catch {
    return false;
  }
}

/**
 * All that `root` has started, by parent links and by the mark, without `root` itself. Empty on a system without /proc.
 * What forks meanwhile may be missed: look again.
 */
export function descendantsOf(root: Traced | undefined, mark: string): Traced[] {
  const all = everyProcess();
  const found = new Set(all.filter(({ pid }) => isMarked(pid, mark)).map(({ pid }) => pid));
  const rootLives = root !== undefined && traced(root.pid)?.start === root.start;
  if (rootLives) found.add(root.pid);
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return all
    .filter(({ pid }) => found.has(pid) && pid !== root?.pid)
    .map(({ pid, start }) => ({ pid, start }));
}

function everyProcess(): Stat[] {
  try {
    return readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  } catch {
    return [];
  }
}

/** Signals a process if it is still the same one; whether it was there. */
export function signalTraced({ pid, start }: Traced, signal: NodeJS.Signals): boolean {
  if (traced(pid)?.start !== start) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
}
