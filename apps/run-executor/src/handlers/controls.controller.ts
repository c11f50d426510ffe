import { Inject, Injectable } from '@nestjs/common';
import type { Caller, Extension } from '@runyard/contracts';
import { BOUND_CEILINGS, extendSchema, modeSchema, parseWith, Problem, TOKEN } from '@runyard/contracts';
import { formatPosition, VersionConflict } from '@runyard/event-log';
import { RpcMethod } from '@runyard/service';
import { z } from 'zod';
import type { Control } from '../domain/controls';
import { decideControl, endedRefusal } from '../domain/controls';
import { isOutOfBudget } from '../domain/continuation';
import { foldNew } from '../domain/next';
import { isLive, stateOf } from '../domain/run';
import type { EndedRun, LiveRun, Run } from '../domain/run';
import { RUN_CONTROLS } from '../tokens';
import type { Budgets } from './budgets.adapter';
import type { Successor, Successors } from './successors.process';
import type { Children } from './children.process';
import type { Presence } from './presence.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

const runId = z.strictObject({ run_id: z.string().regex(TOKEN, 'must be a run id') });
/** Why it is cancelled is the platform's to say: the scheduler replaces a run by its next slot. */
const cancelling = runId.extend({
  reason: z.enum(['user', 'replaced'], 'must be user or replaced').default('user'),
});

const keyed = z.looseObject({ ...runId.shape, key: z.string().max(255).optional() });

/** Conflicts with the run's own progress before a control gives up; each is a few milliseconds. */
const TRIES = 20;

export interface ControlPorts {
  runs: RunLog;
  presence: Presence;
  budgets: Budgets;
  release: (org: string, runId: string) => Promise<void>;
  children: Children;
  enqueue: (org: string, runId: string) => Promise<void>;
  clock: () => number;
  pauseTtlMs: number;
  successors: Successors;
}

/** What a control answers: the state that holds after it, and its place in the log. */
export interface ControlAnswer {
  run_id: string;
  state: string;
  reason: string | null;
  /** True while the driver still has to obey. */
  cancel_requested: boolean;
  pause_requested: boolean;
  mode: string | null;
  position: string;
  /** The run that goes on where this one had ended. */
  continuation?: Successor;
}

/** Controls of a run (P5): events appended to the run's own log by whoever handles the command. */
@Injectable()
export class ControlsController {
  constructor(@Inject(RUN_CONTROLS) private readonly ports: ControlPorts) {}

  @RpcMethod('runs.cancel')
  cancel(caller: Caller, input: unknown): Promise<ControlAnswer> {
    const { run_id: id, reason } = parseWith(cancelling, input);
    if (reason !== 'user' && !caller.actor.startsWith('system:'))
      throw new Problem('forbidden', 'Only parts of the platform give a reason of their own; leave it out.');
    return this.control(caller, id, { type: 'CancelRun', reason });
  }

  @RpcMethod('runs.pause')
  pause(caller: Caller, input: unknown): Promise<ControlAnswer> {
    const expiresAt = this.ports.clock() + this.ports.pauseTtlMs;
    return this.control(caller, parseWith(runId, input).run_id, { type: 'PauseRun', expiresAt });
  }

  @RpcMethod('runs.resume')
  resume(caller: Caller, input: unknown): Promise<ControlAnswer> {
    return this.control(caller, parseWith(runId, input).run_id, { type: 'ResumeRun' });
  }

  @RpcMethod('runs.extend')
  async extend(caller: Caller, input: unknown): Promise<ControlAnswer> {
    const { run_id, key, ...rest } = parseWith(keyed, input);
    const by = parseWith(extendSchema, rest, 'extension');
    const { steps = 0, tool_calls: toolCalls = 0, tokens = 0, seconds = 0 } = by;
    const { run } = await this.ports.runs.glance(caller.org, run_id);
    requireRight(caller, run);
    if (run.situation === 'ended') return this.continued(caller, run, run_id, by);
    return this.control(caller, run_id, { type: 'ExtendRun', steps, toolCalls, tokens, seconds, key });
  }

  @RpcMethod('runs.set_mode')
  setMode(caller: Caller, input: unknown): Promise<ControlAnswer> {
    const { run_id, ...rest } = parseWith(z.looseObject(runId.shape), input);
    return this.control(caller, run_id, { type: 'SetMode', mode: parseWith(modeSchema, rest).mode });
  }

  /** An unfinished run is cancelled to its end first; ask again when it has ended. */
  @RpcMethod('runs.delete')
  async delete(caller: Caller, input: unknown): Promise<ControlAnswer> {
    const { run_id } = parseWith(runId, input);
    const answer = await this.control(caller, run_id, { type: 'CancelRun', reason: 'user' }, true);
    if (answer.cancel_requested) return answer;
    return this.control(caller, run_id, { type: 'DeleteRun' });
  }

  /** One that ended for its budget goes on as a linked run; every other end is final. */
  private async continued(caller: Caller, run: EndedRun, id: string, by: Extension): Promise<ControlAnswer> {
    const loaded = await this.ports.runs.glance(caller.org, id);
    const answer = answerOf(loaded, run, loaded.sequence);
    if (!isOutOfBudget(run)) throw endedRefusal(run);
    return { ...answer, continuation: await this.ports.successors.extend(caller, id, by) };
  }

  private async control(
    caller: Caller,
    id: string,
    control: Control,
    evenEnded = false,
  ): Promise<ControlAnswer> {
    for (let tries = 0; tries < TRIES; tries++) {
      const loaded = await this.ports.runs.glance(caller.org, id);
      requireRight(caller, loaded.run);
      if (evenEnded && loaded.run.situation === 'ended') return answerOf(loaded, loaded.run, loaded.sequence);
      const affordable = await this.afforded(loaded, control);
      const events = decideControl(loaded.run, affordable);
      if (events.length === 0) return answerOf(loaded, loaded.run, loaded.sequence);
      try {
        const { sequence, time } = await this.ports.runs.append(loaded, events, caller.actor);
        const after = foldNew(loaded.run, events, time);
        await this.follow(loaded, after);
        return answerOf(loaded, after, sequence);
      } catch (error) {
        if (!(error instanceof VersionConflict)) throw error;
      }
    }
    throw new Problem('conflict', 'The run moved on too fast; ask again.', { retryAfterSeconds: 1 });
  }

  /**
   * More tokens than the week has left are not given: they are reserved before the run may have them. What is reserved and
   * then not appended is settled with the run.
   */
  private async afforded({ org, runId: id, run, sequence }: LoadedRun, control: Control): Promise<Control> {
    if (control.type !== 'ExtendRun' || control.tokens === 0 || !isLive(run)) return control;
    const { identity, grantTokens } = run;
    // A child spends what its root has: there is nothing to add to for it alone, and it is told so.
    if (identity.parentRunId !== null) return control;
    const spender = { org, runId: id, ownerId: identity.userId ?? identity.ownerId };
    const wanted = Math.min(grantTokens + control.tokens, BOUND_CEILINGS.tokenBudget);
    const { tokens } = await this.ports.budgets.change(spender, wanted, 'extended', sequence);
    const added = Math.max(0, tokens - grantTokens);
    if (added === 0 && control.steps + control.toolCalls + control.seconds === 0)
      throw new Problem('run_not_controllable', "The owner's weekly budget leaves no more tokens.", {
        state: stateOf(run),
      });
    return { ...control, tokens: Math.min(added, control.tokens) };
  }

  /** After the append: whoever drives or may drive the run learns of it. */
  private async follow({ org, runId: id }: LoadedRun, after: Run): Promise<void> {
    if (after.situation === 'ended')
      return this.ports.children.ended(org, id, after.identity?.parentRunId ?? null);
    if (!isLive(after)) return;
    if (after.cancelRequested) await this.ports.children.cancelAll(org, id, after);
    if (after.woken || after.situation === 'queued') return this.ports.enqueue(org, id);
    if (after.instance) this.ports.presence.wake(after.instance, id);
  }
}

/** Owners control their own runs, whoever asked for one controls it, admins and operators any of the org's. */
export function requireRight(caller: Caller, run: Run): void {
  if (run.situation === 'none') throw new Problem('not_found', 'There is no such run.');
  if (caller.roles.includes('admin') || caller.roles.includes('operator')) return;
  const { identity } = run as LiveRun | EndedRun;
  const own =
    identity?.requestedBy === caller.actor || (caller.userId !== null && identity?.userId === caller.userId);
  if (!own)
    throw new Problem('forbidden', 'The run belongs to somebody else; an admin or operator may control it.');
}

const answerOf = ({ runId: id }: LoadedRun, run: Run, sequence: number): ControlAnswer => ({
  run_id: id,
  state: stateOf(run),
  reason: run.situation === 'ended' ? run.reason : null,
  cancel_requested: isLive(run) && run.cancelRequested !== null,
  pause_requested: isLive(run) && run.pauseRequested,
  mode: isLive(run) ? run.mode : null,
  position: formatPosition({ sequence, index: 0 }),
});
