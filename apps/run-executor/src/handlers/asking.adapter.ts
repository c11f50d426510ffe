import type { DefinitionSnapshot } from '@runyard/contracts';
import { approvalIdOf } from '@runyard/event-log';
import type { Approvals, Circumstances } from '../domain/decision';
import { isLive } from '../domain/run';
import type { Run } from '../domain/run';
import { rulingByMode } from '../domain/rulings';
import { circumstancesOf } from './judgement.adapter';
import type { LoadedRun } from './run-log.adapter';

export interface AskingSettings {
  pauseTtlMs: number;
  /** How long a question stays open, and how long a grant holds. */
  ttlMs: number;
}

/**
 * What people and rules have to do with a run's calls. Rules are read from their own log at every decision about calls, never
 * from a table that may lag: a rule that was added holds from the next dispatch on (P4.3).
 */
export class Asking {
  constructor(private readonly settings: AskingSettings) {}

  get ttlMs(): number {
    return this.settings.ttlMs;
  }

  /** Everything that the next decision about a run goes by, `run` being where it stands then. */
  async circumstances(
    { org, runId }: LoadedRun,
    run: Run,
    definition: DefinitionSnapshot,
    now: number,
  ): Promise<Circumstances> {
    const approvals = await this.about(org, runId, run);
    return { ...circumstancesOf(runId, definition, this.settings.pauseTtlMs), now, approvals };
  }

  /** For the next decision about a run; undefined where it is not about calls, so that nothing need be read. */
  async about(org: string, runId: string, run: Run): Promise<Approvals | undefined> {
    if (!decidesCalls(run)) return undefined;
    return {
      policyVersion: 0,
      rule: ({ mode }, tool) => rulingByMode(mode, tool),
      idOf: (callId, kind, round) => approvalIdOf(org, `${runId}/${callId}/${kind}/${round}`),
      ttlMs: this.settings.ttlMs,
    };
  }
}

/** Whether calls are left that are neither under way nor settled. */
const decidesCalls = (run: Run): boolean =>
  isLive(run) &&
  run.phase.name === 'calling_tools' &&
  run.phase.calls.some(({ status }) => status !== 'in_flight' && status !== 'settled');
