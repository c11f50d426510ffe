import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { runProjection } from '@runyard/persistence';
import type { Database, Projection, ProjectorStatus } from '@runyard/persistence';
import type { Fault, Health } from './health';
import type { Logger } from './logger';
import { pause } from './loops';
import type { Metrics } from './metrics';

/** A projector that stopped is tried again after this long: a restored stream or database heals it, anything else keeps it red. */
const RETRY_MS = 2_000;
/** A running projector that is behind and has not moved for this long is stale. */
const STALE_MS = 6_000;

interface Hosted {
  projection: Projection;
  status: ProjectorStatus;
  movedAt: number;
}

/** Runs a service's projections, each in a projector of its own, and tells readiness and metrics how they fare. */
export class ProjectorHost {
  private readonly hosted: Hosted[] = [];
  private readonly stopping = new AbortController();
  private running: Promise<void>[] = [];

  constructor(
    private readonly db: Database,
    private readonly log: EventLog,
    private readonly health: Health,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  start(projections: readonly Projection[]): void {
    for (const projection of projections) {
      const name = `${projection.name}@${projection.version}`;
      const hosted: Hosted = {
        projection,
        status: { projection: projection.name, position: 0, state: 'waiting_for_lock', fault: null },
        movedAt: performance.now(),
      };
      this.hosted.push(hosted);
      this.health.watch('projectors', name, () => this.faultOf(hosted));
      this.running.push(this.keepRunning(hosted));
    }
  }

  statuses(): ProjectorStatus[] {
    return this.hosted.map(({ status }) => status);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  private async keepRunning(hosted: Hosted): Promise<void> {
    const { signal } = this.stopping;
    const { projection } = hosted;
    const source = streamSource(this.log, projection.stream as LogStream, projection.filter);
    while (!signal.aborted) {
      try {
        await runProjection({
          db: this.db,
          source,
          projection,
          signal,
          onStatus: (status) => this.note(hosted, status),
        });
        if (!signal.aborted && hosted.status.state !== 'faulted')
          this.fault(hosted, 'ended without being asked to');
      } catch (error) {
        this.fault(hosted, error instanceof Error ? error.message : String(error));
      }
      await pause(RETRY_MS, signal);
    }
  }

  private note(hosted: Hosted, status: ProjectorStatus): void {
    if (status.position !== hosted.status.position || status.state !== hosted.status.state)
      hosted.movedAt = performance.now();
    if (status.state === 'faulted' && hosted.status.fault !== status.fault)
      this.logger.error({ projection: status.projection, fault: status.fault }, 'a projection stopped');
    hosted.status = { ...status };
    this.metrics.projectorPosition.set({ projection: hosted.projection.name }, status.position);
  }

  private fault(hosted: Hosted, fault: string): void {
    if (this.stopping.signal.aborted) return;
    this.note(hosted, { ...hosted.status, state: 'faulted', fault });
  }

  /** An instance that waits for the lock is well: another one runs the projection. */
  private async faultOf(hosted: Hosted): Promise<Fault | null> {
    const { status, projection } = hosted;
    if (status.state === 'faulted') return { code: 'projector_faulted', detail: status.fault ?? undefined };
    if (status.state !== 'running') return null;
    const head = projection.filter
      ? await this.log.lastSequence(projection.filter)
      : (await this.log.state(projection.stream as LogStream)).lastSequence;
    const lag = Math.max(0, head - hosted.status.position);
    this.metrics.projectorLag.set({ projection: projection.name }, lag);
    if (lag === 0) hosted.movedAt = performance.now();
    const still = performance.now() - hosted.movedAt;
    return still > STALE_MS
      ? {
          code: 'projector_stale',
          detail: `is ${lag} behind and has not moved for ${Math.round(still / 1000)} s`,
        }
      : null;
  }
}
