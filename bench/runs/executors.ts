import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { inherited } from './environment.config';

/** Executor processes of their own, as in production. */
export class Executors {
  private readonly processes = new Set<ChildProcess>();
  /** Of them, those that only keep rows. */
  readonly projectors = new Set<number>();

  constructor(
    private readonly env: Record<string, string>,
    private readonly logFile: string,
    private readonly profileFolder?: string,
  ) {
    process.once('exit', () => [...this.processes].forEach((child) => child.kill('SIGKILL')));
  }

  get pids(): number[] {
    return [...this.processes].flatMap(({ pid }) => pid ?? []);
  }

  get drivers(): number[] {
    return this.pids.filter((pid) => !this.projectors.has(pid));
  }

  /** Starts a process; resolves to its id. It takes work as soon as it has connected. */
  start(settings: Record<string, string> = {}): number {
    const log = openSync(this.logFile, 'a');
    const main = join(__dirname, '../../apps/run-executor/src/main.js');
    if (this.profileFolder) mkdirSync(this.profileFolder, { recursive: true });
    const profiling = this.profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${this.profileFolder}`] : [];
    const child = spawn(process.execPath, [...profiling, main], {
      env: { ...inherited(), ...this.env, ...settings },
      stdio: ['ignore', log, log],
    });
    if (child.pid === undefined) throw new Error('the executor could not be started');
    this.processes.add(child);
    child.once('exit', () => this.processes.delete(child));
    return child.pid;
  }

  /** Starts a process that keeps the rows and drives nothing. */
  startProjector(): void {
    this.projectors.add(this.start({ RUNYARD_DRIVE: 'off' }));
  }

  /** kill -9; resolves when the process is gone. */
  async kill(pid: number): Promise<void> {
    await this.end(pid, 'SIGKILL');
  }

  async stop(): Promise<void> {
    await Promise.all(this.pids.map((pid) => this.end(pid, 'SIGTERM')));
  }

  private async end(pid: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const child = [...this.processes].find((each) => each.pid === pid);
    if (!child) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }
}
