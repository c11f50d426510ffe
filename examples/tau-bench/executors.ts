import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { openSync } from 'node:fs';
import { join } from 'node:path';
import { childEnv } from './data.config';

/** Executor processes of their own, so that they can be killed. */
export class Executors {
  private readonly processes = new Set<ChildProcess>();
  private stopping = false;
  private timer: NodeJS.Timeout | undefined;
  kills = 0;

  constructor(
    private readonly env: Record<string, string>,
    private readonly logFile: string,
  ) {}

  start(count: number): void {
    for (let i = 0; i < count; i++) this.spawn();
  }

  /** Kills one executor after another, -9, at random moments; a killed one is replaced at once. */
  killAtRandom(shortestMs: number, longestMs: number): void {
    const next = shortestMs + Math.random() * (longestMs - shortestMs);
    this.timer = setTimeout(() => {
      const alive = [...this.processes];
      const victim = alive[Math.floor(Math.random() * alive.length)];
      if (victim?.kill('SIGKILL')) this.kills += 1;
      this.killAtRandom(shortestMs, longestMs);
    }, next);
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
