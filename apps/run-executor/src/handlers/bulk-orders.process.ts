import { Problem } from '@runyard/contracts';
import type { BulkKind, BulkResult, Caller } from '@runyard/contracts';
import { LogUnavailable, UnknownEvent } from '@runyard/event-log';
import { isPassing } from '@runyard/persistence';
import { withContext } from '@runyard/service';
import { isLive, stateOf } from '../domain/run';
import { ControlsController, requireRight } from './controls.controller';
import type { ControlAnswer, ControlPorts } from './controls.controller';

/** One run of a bulk action. */
export interface BulkOrder {
  bulkActionId: string;
  action: BulkKind;
  runId: string;
  /** In whose name. */
  caller: Caller;
  /** Whether somebody may have told the run already, and was gone before he recorded it. */
  inDoubt: boolean;
}

type Obeying = Pick<ControlAnswer, 'state' | 'cancel_requested' | 'pause_requested'>;

const NOTHING = { state: null, code: null, detail: null, newRunId: null };

/**
 * Tells one run of a bulk action what was asked. What it leads to in the run's log names the bulk action as its cause, by
 * which a later process sees that the run was told: a pause that somebody has lifted since is not repeated. A retry goes by
 * a key that names action and run.
 */
export class BulkOrders {
  private readonly controls: ControlsController;

  constructor(
    private readonly ports: ControlPorts,
    private readonly log: { warn(facts: object, message: string): void },
  ) {
    this.controls = new ControlsController(ports);
  }

  /** Refusals and faults of one run are its result; throws only what all runs suffer from alike, to be done again. */
  async carryOut(order: BulkOrder): Promise<BulkResult> {
    const { runId, bulkActionId } = order;
    try {
      const told = await withContext({ causationId: bulkActionId }, () => this.tell(order));
      return { runId, ...NOTHING, ...told };
    } catch (error) {
      if (isEverybodys(error)) throw error;
      if (!(error instanceof Problem)) {
        this.log.warn({ err: error, run: runId, bulkActionId }, 'a run of a bulk action could not be told');
        return {
          runId,
          ...NOTHING,
          outcome: 'refused',
          code: 'internal',
          detail: 'The run could not be told.',
        };
      }
      return { runId, ...NOTHING, outcome: 'refused', code: error.code, detail: error.message.slice(0, 300) };
    }
  }

  private async tell(order: BulkOrder): Promise<Partial<BulkResult> & Pick<BulkResult, 'outcome'>> {
    const { action, caller, runId, bulkActionId, inDoubt } = order;
    if (action === 'retry') return this.retry(caller, runId, bulkActionId);
    const answer = inDoubt ? await this.after(caller.org, runId, bulkActionId) : undefined;
    const { state, ...left } = answer ?? (await this.controls[action](caller, { run_id: runId }));
    const obeys =
      (action === 'cancel' && left.cancel_requested) || (action === 'pause' && left.pause_requested);
    return { outcome: obeys ? 'requested' : 'done', state };
  }

  /** Where a run stands that was told before; undefined: it was not. */
  private async after(org: string, runId: string, bulkActionId: string): Promise<Obeying | undefined> {
    if (!(await this.ports.runs.isCausedBy(org, runId, bulkActionId))) return undefined;
    const { run } = await this.ports.runs.glance(org, runId);
    return {
      state: stateOf(run),
      cancel_requested: isLive(run) && run.cancelRequested !== null,
      pause_requested: isLive(run) && run.pauseRequested,
    };
  }

  private async retry(caller: Caller, runId: string, bulkActionId: string) {
    const { run } = await this.ports.runs.glance(caller.org, runId);
    requireRight(caller, run);
    const { run_id, state } = await this.ports.successors.retry(caller, runId, bulkActionId);
    return { outcome: state === null ? ('requested' as const) : ('done' as const), state, newRunId: run_id };
  }
}

/** The log or the database is away. An event that only a newer version knows is the run's own. */
export const isEverybodys = (error: unknown): boolean =>
  !(error instanceof UnknownEvent) && (error instanceof LogUnavailable || isPassing(error));
