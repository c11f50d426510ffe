import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { childEnv } from './data.config';

const RUNS_BETWEEN_KILLS = [10, 40] as const;
const JITTER_MS = 500;

/** Executor processes of their own, so that they can be killed. */
export class Executors {
  private readonly processes = new Set<ChildProcess>();
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  kills = 0;

  constructor(
    private readonly env: Record<string, string>,
    private readonly logFile: string,
  ) {
    process.once('exit', () => this.abandon());
  }

  start(count: number): void {
    for (let i = 0; i < count; i++) this.spawn();
  }

  /**
   * Kills one executor after another, -9, at random moments, and replaces it at once. The next kill waits until some runs
   * have ended since the last one, so that a slow machine is not killed faster than it can start.
   */
  killAtRandom(endedRuns: () => number): void {
    const due =
      endedRuns() + RUNS_BETWEEN_KILLS[0] + Math.random() * (RUNS_BETWEEN_KILLS[1] - RUNS_BETWEEN_KILLS[0]);
    const look = () => {
      if (endedRuns() < due) return void (this.timer = setTimeout(look, 50));
      this.timer = setTimeout(() => {
        this.killOne();
        this.killAtRandom(endedRuns);
      }, Math.random() * JITTER_MS);
    };
    look();
  }

  endKilling(): void {
    clearTimeout(this.timer);
  }

  async stop(): Promise<void> {
    this.stopping = true;
    this.endKilling();
    await Promise.all(
      [...this.processes].map((child) => {
        const gone = new Promise((resolve) => child.once('exit', resolve));
        child.kill('SIGTERM');
        return gone;
      }),
    );
  }

  /** Nobody is left who would stop them in order. */
  private abandon(): void {
    this.stopping = true;
    for (const child of this.processes) child.kill('SIGKILL');
  }

  private killOne(): void {
    const alive = [...this.processes];
    const victim = alive[Math.floor(Math.random() * alive.length)];
    if (victim?.kill('SIGKILL')) this.kills += 1;
  }

  private spawn(): void {
    const log = openSync(this.logFile, 'a');
    const main = join(__dirname, '../../apps/run-executor/src/main.js');
    const child = spawn(process.execPath, ['--enable-source-maps', main], {
      env: { ...childEnv(), ...this.env },
      stdio: ['ignore', log, log],
    });
    this.processes.add(child);
    child.once('exit', () => {
      this.processes.delete(child);
      if (!this.stopping) this.spawn();
    });
  }
}
