import type { LogStream } from '@runyard/contracts';
import { streamSource } from '@runyard/event-log';
import type { EventLog } from '@runyard/event-log';
import { runProjection } from '@runyard/persistence';
import type { Database, Projection, ProjectorStatus } from '@runyard/persistence';
import type { Fault, Health } from './health';
import type { Logger } from './logger';
import type { Metrics } from './metrics';

/** A running projector that is behind and has not moved for this long is stale. */
const STALE_MS = 6_000;

interface Hosted {
  projection: Projection;
  status: ProjectorStatus;
  movedAt: number;
}

export interface ProjectorSettings {
  /** Most commits in one transaction; default 1,000. Small for projections that do more than write rows. */
  batchSize?: number;
}

/** Runs a service's projections, each in a projector of its own, and tells readiness and metrics how they fare. */
export class ProjectorHost {
  private readonly hosted: Hosted[] = [];
  private readonly stopping = new AbortController();
  private readonly running: Promise<void>[] = [];

  constructor(
    private readonly db: Database,
    private readonly log: EventLog,
    private readonly health: Health,
    private readonly metrics: Metrics,
    private readonly logger: Logger,
  ) {}

  start(projections: readonly Projection[], settings: ProjectorSettings = {}): void {
    for (const projection of projections) {
      const { name, version, stream } = projection;
      const status: ProjectorStatus = {
        projection: name,
        position: 0,
        state: 'waiting_for_lock',
        fault: null,
      };
      const hosted: Hosted = { projection, status, movedAt: performance.now() };
      this.hosted.push(hosted);
      this.health.watch('projectors', `${name}@${version} ${stream}`, () => this.faultOf(hosted));
      this.running.push(this.run(hosted, settings));
    }
  }

  statuses(): ProjectorStatus[] {
    return this.hosted.map(({ status }) => status);
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running);
  }

  /** runProjection starts itself again after a fault; that it ends by itself would be a fault of a new kind. */
  private async run(hosted: Hosted, settings: ProjectorSettings): Promise<void> {
    const { signal } = this.stopping;
    const { projection } = hosted;
    const source = streamSource(this.log, projection.stream as LogStream, projection.filter);
    const onStatus = (status: ProjectorStatus) => this.note(hosted, status);
    const onAlarm = (alarm: string) => this.logger.error({ projection: projection.name }, alarm);
    try {
      await runProjection({ db: this.db, source, projection, signal, onStatus, onAlarm, ...settings });
      if (!signal.aborted)
        this.note(hosted, { ...hosted.status, state: 'faulted', fault: 'ended without being asked to' });
    } catch (error) {
      const fault = error instanceof Error ? error.message : String(error);
      this.note(hosted, { ...hosted.status, state: 'faulted', fault });
    }
  }

  private note(hosted: Hosted, status: ProjectorStatus): void {
    const { status: before, projection } = hosted;
    if (status.position !== before.position || status.state !== before.state)
      hosted.movedAt = performance.now();
    const facts = { projection: projection.name, stream: projection.stream, position: status.position };
    if (status.state === 'faulted' && before.fault !== status.fault)
      this.logger.error({ ...facts, fault: status.fault }, 'a projection stopped and is tried again');
    if (status.state === 'running' && before.state === 'faulted')
      this.logger.info(facts, 'a projection goes on');
    hosted.status = { ...status };
    this.metrics.projectorPosition.set(
      { projection: `${projection.name} ${projection.stream}` },
      status.position,
    );
  }

  /**
   * An instance that waits for the lock is well: another one runs the projection. How far a filtered projection is behind
   * cannot be told from the end of its stream; for it only a fault counts.
   */
  private async faultOf(hosted: Hosted): Promise<Fault | null> {
    const { status, projection } = hosted;
    if (status.state === 'faulted') return { code: 'projector_faulted', detail: status.fault ?? undefined };
    if (status.state !== 'running' || projection.filter) return null;
    const { lastSequence } = await this.log.state(projection.stream as LogStream);
    const lag = Math.max(0, lastSequence - hosted.status.position);
    this.metrics.projectorLag.set({ projection: `${projection.name} ${projection.stream}` }, lag);
    if (lag === 0) hosted.movedAt = performance.now();
    const still = performance.now() - hosted.movedAt;
    if (still <= STALE_MS) return null;
    return {
      code: 'projector_stale',
      detail: `is ${lag} behind and has not moved for ${Math.round(still / 1000)} s`,
    };
  }
}
