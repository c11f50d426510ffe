import type { Metrics } from './metrics';
import type { Logger } from './logger';

/** The parts of a service that readiness names. */
export type Part = 'bus' | 'db' | 'consumers' | 'projectors' | 'loops';

/** Why a part is not ready. Codes are for alarms, details for people. */
export interface Fault {
  code:
    | 'bus_disconnected'
    | 'bus_no_answer'
    | 'append_failing'
    | 'db_unreachable'
    | 'consumer_stale'
    | 'projector_faulted'
    | 'projector_stale'
    | 'loop_died'
    | 'check_timed_out'
    | 'check_failed'
    | 'starting'
    | 'shutting_down';
  detail?: string;
}

/** Returns null while all is well. */
export type Probe = () => Promise<Fault | null> | Fault | null;

export interface CheckReport {
  part: Part;
  name: string;
  ok: boolean;
  code?: Fault['code'];
  detail?: string;
}

export interface ReadyReport {
  ready: boolean;
  checks: CheckReport[];
  code?: Fault['code'];
}

/** Together below the ten seconds within which /ready must turn red (case C83): a round, and the longest one check may take. */
const ROUND_MS = 2_000;
const PROBE_MS = 3_000;

/**
 * Readiness: asks every part in the background and answers from the last round, so that a probe that hangs cannot
 * hang the answer. Red means "send no traffic"; liveness is another question and never looks at neighbours.
 */
export class Health {
  private readonly probes = new Set<{ part: Part; name: string; probe: Probe; last: Fault | null }>();
  private timer: NodeJS.Timeout | undefined;
  private phase: 'starting' | 'serving' | 'shutting_down' = 'starting';
  private round: Promise<void> = Promise.resolve();

  constructor(
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  /** Adds a part; it counts as `starting` until its first answer. Returns a function that takes it out again. */
  watch(part: Part, name: string, probe: Probe): () => void {
    const entry = { part, name, probe, last: { code: 'starting' } as Fault | null };
    this.probes.add(entry);
    return () => void this.probes.delete(entry);
  }

  /** Watches a work queue's consumer: red when it has not heard from the server for 30 s (case C74). */
  watchConsumer(name: string, consumer: { lastSeenMs(): number }, staleMs = 30_000): () => void {
    return this.watch('consumers', name, () => {
      const silent = consumer.lastSeenMs();
      return silent > staleMs
        ? { code: 'consumer_stale', detail: `has heard nothing for ${Math.round(silent / 1000)} s` }
        : null;
    });
  }

  async start(): Promise<void> {
    this.phase = 'serving';
    await this.check();
    this.timer = setInterval(() => void this.check(), ROUND_MS);
    this.timer.unref();
  }

  /** Red for good: the first step of a shutdown, so that no new work arrives. */
  shutDown(): void {
    this.phase = 'shutting_down';
    clearInterval(this.timer);
    this.metrics.ready.set(0);
  }

  report(): ReadyReport {
    const checks = [...this.probes].map(({ part, name, last }): CheckReport => ({
      part,
      name,
      ok: last === null,
      ...last,
    }));
    if (this.phase !== 'serving') return { ready: false, code: this.phase, checks };
    return { ready: checks.every((check) => check.ok), checks };
  }

  /** One round over all parts, at most one at a time. */
  check(): Promise<void> {
    this.round = this.round.then(async () => {
      const before = this.report().ready;
      await Promise.all([...this.probes].map(async (entry) => void (entry.last = await answer(entry.probe))));
      const now = this.report();
      this.metrics.ready.set(now.ready ? 1 : 0);
      // A round may end after the shutdown has begun, which is no news.
      if (before && !now.ready && this.phase === 'serving')
        this.logger.warn({ checks: now.checks.filter((check) => !check.ok) }, 'not ready');
    });
    return this.round;
  }
}

async function answer(probe: Probe): Promise<Fault | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<Fault>((resolve) => {
    timer = setTimeout(
      () => resolve({ code: 'check_timed_out', detail: `gave no answer within ${PROBE_MS} ms` }),
      PROBE_MS,
    );
  });
  try {
    return await Promise.race([Promise.resolve().then(probe), late]);
  } catch (error) {
    return { code: 'check_failed', detail: error instanceof Error ? error.message : String(error) };
  } finally {
    clearTimeout(timer);
  }
}
