import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { descendantsOf, MARK, signalTraced, traced } from './process-tree';
import type { Traced } from './process-tree';

/** A server that is told to end by its closed input gets this long before it is signalled. */
const INPUT_CLOSED_MS = 500;
/** Between SIGTERM and SIGKILL. */
const TERM_MS = 1_000;
/** For output that is still in the pipe when the server has ended. */
const LAST_WORDS_MS = 250;
/** Last bytes of the error output that are kept for the log; the rest is read and dropped, else the server would block. */
const STDERR_TAIL = 4_096;
/** Looks for processes that were started while others were killed; one that forks faster than this is not caught. */
const KILL_ROUNDS = 5;
const BETWEEN_ROUNDS_MS = 20;

/**
 * A child in a process group of its own, so that what it started ends with it. What has left the group (setsid) is found
 * by parent links and by a mark in the environment, where the system has /proc.
 */
export class ServerProcess {
  private tail = '';
  private readonly exit: Promise<void>;
  private readonly root: Traced | undefined;
  /** All that it was ever seen to have started, by process id. */
  private readonly started = new Map<number, Traced>();

  private constructor(
    private readonly child: ChildProcessWithoutNullStreams,
    private readonly mark: string,
  ) {
    this.root = child.pid === undefined ? undefined : traced(child.pid);
    this.exit = new Promise((resolve) => child.once('close', () => resolve()));
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.tail = (this.tail + text).slice(-STDERR_TAIL);
    });
    // A signal that could not be sent; nothing is to be done about it.
    child.on('error', () => {});
    // A server that dies while we write is reported by its exit.
    for (const stream of [child.stdin, child.stdout, child.stderr]) stream.on('error', () => {});
  }

  /** Starts a command without a shell. Rejects where it cannot be started. */
  static async start(
    command: string,
    args: readonly string[],
    env: Record<string, string>,
    cwd?: string,
  ): Promise<ServerProcess> {
    const mark = randomUUID();
    const child = spawn(command, [...args], {
      env: { ...env, [MARK]: mark },
      detached: true,
      stdio: 'pipe',
      ...(cwd !== undefined && { cwd }),
    });
    const started = new ServerProcess(child, mark);
    await once(child, 'spawn');
    return started;
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  get alive(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }

  /** Exit code or signal, for messages. */
  get outcome(): string {
    return this.child.signalCode ?? `exit code ${this.child.exitCode}`;
  }

  get errorOutput(): string {
    return this.tail;
  }

  onOutput(listener: (chunk: Buffer) => void): void {
    this.child.stdout.on('data', listener);
  }

  /** Called when it has ended and what it wrote before was read. Children of its own may hold the pipes open: no wait for those. */
  onExit(listener: () => void): void {
    this.child.once('exit', () => void this.exitWithin(LAST_WORDS_MS).then(listener));
  }

  /** Resolves when the pipe has taken the text; rejects where it is broken. */
  write(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.child.stdin.write(text, (error) => (error ? reject(error) : resolve()));
    });
  }

  /** Ends it and all that it started: closed input first, then SIGTERM, then SIGKILL. Safe to call again. */
  async end(): Promise<void> {
    // Before it ends: afterwards nothing links it to a child that left the group and emptied its environment.
    this.lookAround();
    this.child.stdin.end();
    await this.exitWithin(INPUT_CLOSED_MS);
    if (this.alive) {
      this.lookAround();
      this.signal('SIGTERM');
      await this.exitWithin(TERM_MS);
    }
    await this.kill();
    await this.exitWithin(TERM_MS);
    for (const stream of [this.child.stdin, this.child.stdout, this.child.stderr]) stream.destroy();
  }

  /** Also where the server itself has ended: its children may not have. */
  private async kill(): Promise<void> {
    for (let round = 0; round < KILL_ROUNDS; round++) {
      this.lookAround();
      if (!this.signal('SIGKILL')) return;
      await delay(BETWEEN_ROUNDS_MS, undefined, { ref: false });
    }
  }

  private lookAround(): void {
    for (const one of descendantsOf(this.root, this.mark)) this.started.set(one.pid, one);
  }

  private async exitWithin(ms: number): Promise<void> {
    const timer = new AbortController();
    await Promise.race([
      this.exit,
      delay(ms, undefined, { signal: timer.signal, ref: false }).catch(() => {}),
    ]);
    timer.abort();
  }

  /** Whether somebody was there to be signalled. */
  private signal(signal: NodeJS.Signals): boolean {
    const { pid } = this.child;
    let found = false;
    try {
      found = pid !== undefined && process.kill(-pid, signal);
    } catch {
      // Nobody is left in the group.
    }
    for (const one of this.started.values()) found = signalTraced(one, signal) || found;
    return found;
  }
}
