import type { Actor, IntakeAnswer, RunRequest } from '@runyard/contracts';
import { Problem } from '@runyard/contracts';
import { formatPosition, VersionConflict } from '@runyard/event-log';
import { currentContext } from '@runyard/service';
import { claim } from '../domain/claim';
import type { NewRunEvent } from '../domain/decision';
import { fold } from '../domain/evolve';
import type { Material } from '../domain/material';
import { dated, decideAll, foldNew } from '../domain/next';
import { isLive, NO_RUN, stateOf } from '../domain/run';
import type { OperationsQueries } from '../projections/operations.queries';
import type { Asking } from './asking.adapter';
import type { Definitions } from './definitions.adapter';
import type { Drivers } from './drivers.process';
import type { LoadedRun, RunLog } from './run-log.adapter';

export interface BirthPorts {
  runs: RunLog;
  definitions: Definitions;
  operations: OperationsQueries;
  drivers: Drivers;
  enqueue: (org: string, runId: string) => Promise<void>;
  instance: string;
  clock: () => number;
  asking: Asking;
}

/**
 * The first commit of a run, and what a run id stands for once it has one. With a free place the run is claimed in the
 * very commit that queues it (docs/adr/0008); otherwise it goes to the work queue.
 */
export class Births {
  constructor(private readonly ports: BirthPorts) {}

  /** Appends a run's first commit at expectation 0; where somebody was faster, answers what the log says. */
  async append(
    before: LoadedRun,
    born: NewRunEvent[],
    request: RunRequest,
    digest: string,
    known?: Material,
  ): Promise<IntakeAnswer> {
    const { org, runId } = before;
    const events = born.map((event) => dated(event, 0));
    const material = known ?? (await this.ports.runs.materialFor(org, runId, events));
    const { traceparent } = currentContext() ?? {};
    const loaded: LoadedRun = { ...before, run: NO_RUN, material, traceparent };
    const claims = born[0]?.type === 'RunQueued' && this.ports.drivers.register(runId, 1);
    try {
      return await (claims ? this.startHere(loaded, born, request) : this.queue(loaded, born, request));
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
      return this.lost(org, runId, digest);
    } finally {
      if (claims) this.ports.drivers.dropUndriven(runId);
    }
  }

  /** One commit: queued, claimed, and what follows from that. */
  private async startHere(
    loaded: LoadedRun,
    born: NewRunEvent[],
    request: RunRequest,
  ): Promise<IntakeAnswer> {
    const now = this.ports.clock();
    const queued = foldNew(NO_RUN, born, now, loaded.material);
    const digest = isLive(queued) ? queued.definition : '';
    const definition = await this.ports.definitions.get(loaded.org, digest);
    if (!isLive(queued) || !definition) return this.queue(loaded, born, request);
    const claims = claim(queued, this.ports.instance, 'woken');
    const claimed = foldNew(queued, claims, now, loaded.material);
    const at = await this.ports.asking.circumstances(loaded, claimed, definition, now);
    const events = [...born, ...claims, ...decideAll(claimed, at)];
    const answer = await this.store(loaded, events, request);
    this.ports.drivers.drive(loaded, definition, 1);
    return answer;
  }

  private async queue(loaded: LoadedRun, born: NewRunEvent[], request: RunRequest): Promise<IntakeAnswer> {
    const answer = await this.store(loaded, born, request);
    if (isLive(loaded.run)) await this.ports.enqueue(loaded.org, loaded.runId);
    return answer;
  }

  private async store(loaded: LoadedRun, events: NewRunEvent[], request: RunRequest): Promise<IntakeAnswer> {
    // The schema has checked the actor's form.
    const appended = await this.ports.runs.append(loaded, events, request.requested_by as Actor);
    loaded.run = fold(
      NO_RUN,
      events.map((event) => dated(event, appended.time)),
      loaded.material,
    );
    loaded.sequence = appended.sequence;
    return answerOf(loaded, true);
  }

  /** Somebody was faster with the same run id: give back only what the logged outcome does not need (P2.5). */
  private async lost(org: string, runId: string, digest: string): Promise<IntakeAnswer> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (!isLive(loaded.run)) await this.giveBack(loaded);
    return this.again(loaded, digest);
  }

  /** A run that was never queued needs nothing; one that was and has ended keeps its turn of the conversation. */
  private giveBack({ org, runId, run }: LoadedRun): Promise<void> {
    const { operations } = this.ports;
    const queued = run.situation === 'ended' && run.definition !== null;
    return queued ? operations.releaseSlots(org, runId) : operations.giveBack(org, runId);
  }

  /** The id was used before: by a rival that was faster just now, or by a run whose log is gone. */
  async known(org: string, runId: string, known: string | null, digest: string): Promise<IntakeAnswer> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (loaded.sequence > 0) return this.again(loaded, digest);
    if (known !== digest) throw keyReused(runId);
    throw new Problem('not_found', 'This request was carried out before; its run has been deleted.', {
      run_id: runId,
    });
  }

  /** The same key again: the same run for ever, or a refusal (P2.8). */
  async again(loaded: LoadedRun, digest: string): Promise<IntakeAnswer> {
    const { run, org, runId } = loaded;
    const identity = run.situation === 'none' ? null : run.identity;
    if (identity && identity.requestDigest !== digest) throw keyReused(runId);
    const driverless = isLive(run) && (run.situation === 'queued' || run.woken);
    if (driverless && !this.ports.drivers.has(runId)) await this.ports.enqueue(org, runId);
    return answerOf(loaded, false);
  }

  /** A request that will never become a run: its id is closed for ever and what it held is freed (P2.6). */
  async fence(org: string, runId: string, parentRunId?: string): Promise<void> {
    const loaded = await this.ports.runs.glance(org, runId);
    if (loaded.sequence > 0) return;
    const error = { code: 'request_lost', text: 'The request was never turned into a run.' };
    const stale: NewRunEvent = {
      type: 'RunFailed',
      data: { termination: 'Error', reason: 'stale', error, ...(parentRunId && { parentRunId }) },
    };
    try {
      await this.ports.runs.append(loaded, [stale], 'system:run-executor');
    } catch (error_) {
      // It became a run after all.
      if (error_ instanceof VersionConflict) return;
      throw error_;
    }
    await this.ports.operations.giveBack(org, runId);
  }
}

const keyReused = (runId: string): Problem =>
  new Problem('idempotency_key_reused', 'This key was used for another request; use a new key.', {
    run_id: runId,
  });

const answerOf = ({ run, runId, sequence }: LoadedRun, created: boolean): IntakeAnswer => ({
  ok: true,
  run_id: runId,
  state: stateOf(run),
  reason: run.situation === 'ended' ? run.reason : null,
  position: formatPosition({ sequence, index: 0 }),
  created,
});
