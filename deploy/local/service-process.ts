import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { watchdog } from './server-process.mjs';

export interface ServiceProcessOptions {
  service: string;
  /** Arguments of Node: what loads the service's main module, and that. */
  main: readonly string[];
  env: Record<string, string>;
  /** What it prints goes here. */
  logFile: string;
  opsPort: number;
}

const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
/** One that has run for so long has come up; its next end counts as the first. */
const STEADY_MS = 30_000;
/** A service ends by itself within its own limit; after this it is killed. */
const STOP_LIMIT_MS = 30_000;
const READY_LIMIT_MS = 120_000;

/** One service as a process of its own, started again whenever it ends without being asked to. */
export class ServiceProcess {
  private child: ChildProcess;
  private stopping = false;
  private failures = 0;
  /** How often it was started again. */
  restarts = 0;

  constructor(private readonly options: ServiceProcessOptions) {
    this.child = this.launch();
  }

  get pid(): number {
    return this.child.pid ?? 0;
  }

  get opsPort(): number {
    return this.options.opsPort;
  }

  /** Resolves when it says that it can do its work. Throws after two minutes. */
  async ready(): Promise<void> {
    const until = performance.now() + READY_LIMIT_MS;
    for (;;) {
      if (await isReady(this.options.opsPort)) return;
      const { service, logFile } = this.options;
      if (performance.now() >= until) throw new Error(`${service} is not ready; it says why in ${logFile}`);
      await wait(100);
    }
  }

  /** kill -9, as a crash would be; it is started again. Resolves when the process is gone. */
  async kill(): Promise<void> {
    const gone = ended(this.child);
    this.child.kill('SIGKILL');
    await gone;
  }

  /** Ends it in order, for good. */
  async stop(): Promise<void> {
    this.stopping = true;
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const gone = ended(this.child);
    this.child.kill('SIGTERM');
    const timer = setTimeout(() => this.child.kill('SIGKILL'), STOP_LIMIT_MS);
    await gone;
    clearTimeout(timer);
  }

  private launch(): ChildProcess {
    const { main, env, logFile } = this.options;
    const log = openSync(logFile, 'a', 0o600);
    const startedAt = performance.now();
    const child = spawn(process.execPath, main, { env, stdio: ['ignore', log, log] });
    closeSync(log);
    const calm = child.pid === undefined ? undefined : watchdog(child.pid, 'TERM');
    child.once('exit', () => {
      calm?.();
      void this.startAgain(performance.now() - startedAt);
    });
    return child;
  }

  private async startAgain(ranForMs: number): Promise<void> {
    if (this.stopping) return;
    if (ranForMs > STEADY_MS) this.failures = 0;
    await wait(Math.min(FIRST_PAUSE_MS * 2 ** this.failures++, LONGEST_PAUSE_MS));
    if (this.stopping) return;
    this.restarts++;
    this.child = this.launch();
  }
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => child.once('exit', () => resolve()));

async function isReady(port: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/ready`)).ok;
  } catch {
    return false;
  }
}
