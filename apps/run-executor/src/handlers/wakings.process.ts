import type { RunEvent, WakingBudget } from '@runyard/contracts';
import { parseSubject, RUN_EVENTS } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Commit, WorkQueues } from '@runyard/event-log';
import { mayHold } from '@runyard/persistence';
import type { Projection } from '@runyard/persistence';
import { reactionProjection } from '@runyard/service';
import type { Logger } from '@runyard/service';
import { needsBudget } from '../domain/claim';
import { isLive } from '../domain/run';
import type { LiveRun } from '../domain/run';
import type { Budgets, Spender } from './budgets.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

/** Runs that wait for people hold what they have used; a moment more does no harm. */
const GATHER_MS = 200;
const PARKS = ['RunPaused', 'RunAwaitingApproval'] as const;

/**
 * What a run holds while it waits for people (P5.6): a question may stay open for days, and what it has not spent is of use to
 * others. The reservation shrinks to what was used by reaction, after the run has parked, and is asked for again before
 * the claim that wakes it. Each word to the ledger names the place in the run's log that it follows from, so that a late
 * one takes nothing from a run that goes on; a crash between a word and what comes after it repeats the word.
 */
export class Wakings {
  constructor(
    private readonly runs: RunLog,
    private readonly budgets: Budgets,
  ) {}

  /** What the week leaves a run that goes on; undefined where it need not be asked. Throws `unavailable` where the ledger is away: the run is woken later. */
  async budgetOf({ org, runId, sequence }: LoadedRun, run: LiveRun): Promise<WakingBudget | undefined> {
    if (!needsBudget(run)) return undefined;
    const spender = spenderOf(org, runId, run);
    const answer = await this.budgets.change(spender, run.grantTokens, 'woken', sequence);
    return { grantTokens: Math.min(run.grantTokens, answer.tokens), weeklyTokens: answer.weekly_left };
  }

  reaction(queues: WorkQueues, logger: Logger): Projection {
    const reaction = reactionProjection(
      {
        name: 'run-executor-parked',
        version: 1,
        stream: 'RUNS',
        react: (commit) => this.react(commit),
      },
      queues,
      logger,
    );
    return { ...reaction, gatherMs: GATHER_MS, concerns: (commit) => mayHold(commit, [...PARKS]) };
  }

  private async react(commit: Commit): Promise<void> {
    const { context, org, id: runId } = parseSubject(commit.subject) ?? {};
    if (context !== 'runs' || !org || !runId) return;
    const { events } = decodeEvents(commit, RUN_EVENTS);
    if ((events as RunEvent[]).some(({ type }) => PARKS.some((park) => park === type)))
      await this.shrink(org, runId);
  }

  /** Decided on the run as it stands: one that goes on by now keeps what it has. */
  private async shrink(org: string, runId: string): Promise<void> {
    const { run, sequence } = await this.runs.glance(org, runId);
    if (!isLive(run) || run.identity.parentRunId !== null) return;
    if (run.situation !== 'paused' && run.situation !== 'awaiting_approval') return;
    await this.budgets.change(
      spenderOf(org, runId, run),
      run.usedTokens + run.childTokens,
      'parked',
      sequence,
    );
  }
}

const spenderOf = (org: string, runId: string, { identity }: LiveRun): Spender => ({
  org,
  runId,
  ownerId: identity.userId ?? identity.ownerId,
});
