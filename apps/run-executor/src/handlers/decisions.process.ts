import type { Actor, ApprovalEvent } from '@runyard/contracts';
import { APPROVAL_EVENTS, parseSubject } from '@runyard/contracts';
import { decodeEvents, VersionConflict } from '@runyard/event-log';
import type { Tx } from '@runyard/persistence';
import type { Reaction } from '@runyard/service';
import { decideAnswer } from '../domain/approvals';
import type { Answer } from '../domain/approvals';
import { foldNew } from '../domain/next';
import { isLive } from '../domain/run';
import type { Run } from '../domain/run';
import type { Children } from './children.process';
import type { Presence } from './presence.adapter';
import type { LoadedRun, RunLog } from './run-log.adapter';

export interface DecisionPorts {
  runs: RunLog;
  presence: Presence;
  children: Children;
  enqueue: (org: string, runId: string) => Promise<void>;
  clock: () => number;
  approvalTtlMs: number;
}

/** Conflicts with the run's own progress before a decision is left to the next attempt of the reaction. */
const TRIES = 50;

/**
 * Applies what was decided in the approvals' log to the log of the run that asked (architecture, section 4). Order: append
 * to the run under expectation, wake it, then the checkpoint moves. A crash between any two repeats the rest: a question that
 * is answered already gives no event, and a run that is runnable is announced again.
 */
export function decisionReaction(ports: DecisionPorts): Reaction {
  return {
    name: 'run-executor-decisions',
    version: 1,
    stream: 'APPROVALS',
    filter: 'runyard.approvals.>',
    async react(commit, tx) {
      const { org, id } = parseSubject(commit.subject) ?? {};
      if (!org || !id) return;
      const { events } = decodeEvents(commit, APPROVAL_EVENTS);
      for (const event of events as ApprovalEvent[]) {
        const answer = answerOf(id, event);
        if (answer) await apply(ports, org, event.data.runId, answer, tx);
      }
    },
  };
}

/** The approvals' words in ours; the only place that knows them. */
function answerOf(approvalId: string, event: ApprovalEvent): Answer | null {
  if (event.type === 'ApprovalDecided') {
    const { verdict, arguments: edited, argumentsDigest, message, wholeGroup, ruleId } = event.data;
    const decidedBy = event.actor;
    return {
      approvalId,
      verdict,
      arguments: edited,
      argumentsDigest,
      message,
      wholeGroup,
      decidedBy,
      ruleId,
    };
  }
  if (event.type !== 'ApprovalExpired') return null;
  const nothing = { arguments: null, argumentsDigest: '', message: null, wholeGroup: false, ruleId: null };
  return { ...nothing, approvalId, verdict: 'expire', decidedBy: 'system:expiry' };
}

async function apply(
  ports: DecisionPorts,
  org: string,
  runId: string,
  answer: Answer,
  tx: Tx,
): Promise<void> {
  for (let tries = 0; tries < TRIES; tries++) {
    const loaded = await ports.runs.glance(org, runId);
    const { run } = loaded;
    const now = Math.max(ports.clock(), isLive(run) ? run.lastEventAt : 0);
    const events = decideAnswer(run, answer, now, ports.approvalTtlMs);
    if (events.length === 0) return wake(ports, loaded, run, tx);
    try {
      const actor = answer.decidedBy as Actor;
      const { time } = await ports.runs.append(loaded, events, actor, now);
      return await wake(ports, loaded, foldNew(run, events, time), tx);
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new Error(`run ${runId} moved on too fast to take a decision over`);
}

/** Whoever drives or may drive the run learns of it; what an ended run held is freed. */
async function wake(ports: DecisionPorts, { org, runId }: LoadedRun, after: Run, tx: Tx): Promise<void> {
  if (after.situation === 'ended')
    return ports.children.within(tx).ended(org, runId, after.identity?.parentRunId ?? null);
  if (!isLive(after) || after.situation === 'paused') return;
  if (after.woken || after.situation === 'queued') return ports.enqueue(org, runId);
  if (after.instance) ports.presence.wake(after.instance, runId);
}
