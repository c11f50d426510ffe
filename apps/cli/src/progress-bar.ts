import type { Terminal } from './terminal';

const WIDTH = 24;
const EVERY_MS = 200;

/** How far something has come, for people who look: a bar, a rate and how long it will take. */
export class ProgressBar {
  private readonly startedAt = performance.now();
  private shownAt = -Infinity;

  constructor(
    private readonly terminal: Terminal,
    private readonly label: string,
    private readonly from: number,
    private readonly to: number,
  ) {}

  show(place: number): void {
    const now = performance.now();
    if (now - this.shownAt < EVERY_MS && place < this.to) return;
    this.shownAt = now;
    const done = place - this.from;
    const share = this.to > this.from ? Math.min(1, done / (this.to - this.from)) : 1;
    const rate = (done * 1_000) / Math.max(1, now - this.startedAt);
    const bar = '#'.repeat(Math.round(share * WIDTH)).padEnd(WIDTH, '.');
    const left = rate > 0 ? `, ${Math.ceil((this.to - place) / rate)} s left` : '';
    this.terminal.progress(
      `${this.label} [${bar}] ${Math.floor(share * 100)} % at ${place} of ${this.to}, ${Math.round(rate)}/s${left}`,
    );
  }

  end(): void {
    this.terminal.progress('');
  }
}
