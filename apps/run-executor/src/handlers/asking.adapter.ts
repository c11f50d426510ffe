import { setTimeout as wait } from 'node:timers/promises';
import type { DefinitionSnapshot, Json, Policy, ToolDefinition } from '@runyard/contracts';
import { decideCall } from '@runyard/contracts';
import { approvalIdOf, LogUnavailable } from '@runyard/event-log';
import type { Approvals, Circumstances } from '../domain/decision';
import { isLive } from '../domain/run';
import type { LiveRun, Run } from '../domain/run';
import type { Ruling } from '../domain/rulings';
import { circumstancesOf } from './judgement.adapter';
import type { DriveRules } from './judgement.adapter';
import type { LoadedRun } from './run-log.adapter';

/** A log that does not answer is asked again after this long. */
const LOG_RETRY_MS = 250;

export interface AskingSettings extends DriveRules {
  /** How long a question stays open, and how long a grant holds. */
  ttlMs: number;
}

/**
 * What people and rules have to do with a run's calls. Rules are read from their own log at every decision about calls, never
 * from a table that may lag: a rule that was added holds from the next dispatch on (P4.3).
 */
export class Asking {
  constructor(
    private readonly rules: { policy(org: string): Promise<Policy> },
    private readonly settings: AskingSettings,
  ) {}

  get ttlMs(): number {
    return this.settings.ttlMs;
  }

  /** Everything that the next decision about a run goes by, `run` being where it stands then. */
  async circumstances(
    loaded: LoadedRun,
    run: Run,
    definition: DefinitionSnapshot,
    now: number,
  ): Promise<Circumstances> {
    const approvals = await this.about(loaded.org, loaded.runId, run);
    return { ...circumstancesOf(loaded, definition, this.settings), now, approvals };
  }

  /** For the next decision about a run; undefined where it is not about calls, so that nothing need be read. */
  async about(org: string, runId: string, run: Run): Promise<Approvals | undefined> {
    if (!decidesCalls(run)) return undefined;
    const policy = await this.policy(org);
    return {
      policyVersion: policy.version,
      rule: (live, tool, args, now) => rulingBy(policy, live, tool, args, now),
      idOf: (callId, kind, round) => approvalIdOf(runId, callId, `${kind}-${round}`),
      ttlMs: this.settings.ttlMs,
    };
  }

  /** Without the rules nothing may go out: the run waits for a log that does not answer. */
  private async policy(org: string): Promise<Policy> {
    for (;;) {
      try {
        return await this.rules.policy(org);
      } catch (error) {
        if (!(error instanceof LogUnavailable)) throw error;
        await wait(LOG_RETRY_MS);
      }
    }
  }
}

/** What rules and mode say of a call, in the domain's words. */
function rulingBy(
  policy: Policy,
  { identity, mode }: LiveRun,
  { name, effect }: ToolDefinition,
  args: Json | undefined,
  now: number,
): Ruling {
  const { agentId, ownerId } = identity;
  const call = { agentId, ownerId, tool: name, effect, arguments: args ?? {}, mode, now };
  const { decision, decidedBy, ruleId, groupKey, reason } = decideCall(policy, call);
  return { decision, by: { decidedBy, ruleId, groupKey }, why: reason };
}

/** Whether calls are left that are neither under way nor settled. */
const decidesCalls = (run: Run): boolean =>
  isLive(run) &&
  run.phase.name === 'calling_tools' &&
  run.phase.calls.some(({ status }) => status !== 'in_flight' && status !== 'settled');
