import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import path from 'node:path';

/** A process of a spec's own that runs a TypeScript file of the workspace, in order to be killed. */
export interface SpecProcess {
  readonly process: ChildProcess;
  /** Messages it has sent, in order. */
  readonly messages: unknown[];
  /** Resolves with the first message for which `wanted` holds. Rejects when the process ends before. */
  message<T>(wanted: (message: unknown) => message is T): Promise<T>;
  /** kill -9; resolves when it is gone. */
  kill(): Promise<void>;
  /** Exit code, once it has ended by itself. */
  readonly ended: Promise<number | null>;
}

/** Starts `file` (absolute) with arguments in a process of its own. */
export function startSpecProcess(file: string, args: readonly string[]): SpecProcess {
  const child = fork(file, args, {
    execArgv: ['-r', path.join(__dirname, 'database-child.cjs')],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const messages: unknown[] = [];
  const listeners = new Set<() => void>();
  child.on('message', (message) => {
    messages.push(message);
    for (const listener of listeners) listener();
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  return {
    process: child,
    messages,
    ended,
    message: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = messages.find(wanted);
          if (found !== undefined) resolve(found);
        };
        listeners.add(look);
        look();
        void ended.then((code) =>
          reject(new Error(`${path.basename(file)} ended with ${code} before it said so`)),
        );
      }),
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
