import type { Health } from './health';
import type { Logger } from './logger';
import type { Metrics } from './metrics';

/** A loop that dies is started again after this long, doubled each time up to the maximum; a healthy minute resets it. */
const FIRST_PAUSE_MS = 250;
const LONGEST_PAUSE_MS = 15_000;
const HEALTHY_MS = 60_000;

interface Loop {
  name: string;
  stop: AbortController;
  done: Promise<void>;
  fault: string | null;
}

/**
 * Background loops under supervision. Without it, an iterator that rejects ends its loop in silence while the
 * connection stays green (case C83). Here its name turns readiness red, and it is started again with growing pauses.
 */
export class Loops {
  private readonly loops: Loop[] = [];

  constructor(
    private readonly health: Health,
    private readonly logger: Logger,
    private readonly metrics: Metrics,
  ) {}

  /** Starts a loop. `body` runs until `signal` aborts; returning or throwing earlier counts as a death. */
  start(name: string, body: (signal: AbortSignal) => Promise<void>): void {
    const loop: Loop = { name, stop: new AbortController(), done: Promise.resolve(), fault: null };
    loop.done = this.supervise(loop, body);
    this.loops.push(loop);
    this.health.watch('loops', name, () =>
      loop.fault === null ? null : { code: 'loop_died', detail: loop.fault },
    );
  }

  /** Starts a loop that calls `work` every `everyMs`, never twice at once. A failed call is logged and turns readiness red until one succeeds. */
  every(name: string, everyMs: number, work: (signal: AbortSignal) => Promise<void>): void {
    this.start(name, async (signal) => {
      while (!signal.aborted) {
        await work(signal);
        await pause(everyMs, signal);
      }
    });
  }

  /** Asks all loops to end and waits for them. */
  async stop(): Promise<void> {
    for (const loop of this.loops) loop.stop.abort();
    await Promise.all(this.loops.map((loop) => loop.done));
  }

  private async supervise(loop: Loop, body: (signal: AbortSignal) => Promise<void>): Promise<void> {
    let pauseMs = FIRST_PAUSE_MS;
    const { signal } = loop.stop;
    while (!signal.aborted) {
      const startedAt = performance.now();
      // A loop that lives this long after a death has recovered.
      const recovered = setTimeout(() => void (loop.fault = null), Math.max(2 * pauseMs, 1_000));
      const fault = await endOf(body, signal);
      clearTimeout(recovered);
      if (signal.aborted) return;
      loop.fault = fault;
      this.metrics.loopDeaths.inc({ loop: loop.name });
      this.logger.error({ loop: loop.name, fault }, 'a background loop died and is started again');
      if (performance.now() - startedAt > HEALTHY_MS) pauseMs = FIRST_PAUSE_MS;
      await pause(pauseMs, signal);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
  }
}

async function endOf(body: (signal: AbortSignal) => Promise<void>, signal: AbortSignal): Promise<string> {
  try {
    await body(signal);
    return 'ended without being asked to';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Waits, or returns at once when `signal` aborts. */
export function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done, { once: true });
  });
}
