import { parseSubject } from '@runyard/contracts';
import type { Actor, ApprovalRequested, DomainEvent, GroupApproved } from '@runyard/contracts';
import { mayHold } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import { onEach } from '@runyard/service';
import type { Reaction } from '@runyard/service';
import { askedCalls } from '../projections/approval.queries';
import type { ApprovalLog } from './approval-log.adapter';
import { RUN_ENDS, runRecords } from './runs.adapter';
import type { RunRecord, Runs } from './runs.adapter';

const CONCERNING = ['ApprovalRequested', 'GroupApproved', ...RUN_ENDS];

/** Where an event of a run stands. */
interface Place {
  org: string;
  runId: string;
  /** Its position: the cause of what follows. */
  cause: string;
}

/**
 * What runs ask becomes a question for people: `ApprovalRequested` → `ApprovalOpened`, the end of a run → `ApprovalWithdrawn`
 * for what is still open (P5.4), `GroupApproved` → `ApprovalDecided` for the open members of the group.
 *
 * Invariants:
 * 1. What a run has asked is noted in the transaction that moves the checkpoint, so an end finds every question before it.
 * 2. Each append is refused by the approval's own situation where it was made before: doing it again comes to nothing.
 */
export class RunQuestions {
  constructor(
    private readonly approvals: ApprovalLog,
    private readonly runs: Runs,
    private readonly now: () => number,
  ) {}

  reaction(): Reaction {
    return {
      name: 'approvals-runs-reaction',
      version: 1,
      stream: 'RUNS',
      react: async (commit, tx) => {
        const place = parseSubject(commit.subject);
        if (place?.context !== 'runs') return;
        for (const [index, event] of runRecords(commit).entries())
          await this.reactTo(
            event,
            { org: place.org, runId: place.id, cause: `${commit.sequence}.${index}` },
            tx,
          );
      },
    };
  }

  private async reactTo(event: RunRecord, at: Place, tx: Tx): Promise<void> {
    if (event.type === 'ApprovalRequested') return this.open(event.data, at, tx);
    if (event.type === 'GroupApproved') return this.answerGroup(event, at, tx);
    if (!RUN_ENDS.includes(event.type)) return;
    const command = { type: 'WithdrawApproval', reason: reasonOf(event) } as const;
    const asked = await askedCalls.of(tx, at.runId);
    await onEach(asked, (id) => this.approvals.react(at.org, id, command, at.cause));
    if (asked.length) await askedCalls.forget(tx, at.runId);
  }

  private async open(data: ApprovalRequested['data'], { org, runId, cause }: Place, tx: Tx): Promise<void> {
    const run = await this.runs.facts(org, runId);
    if (!run) throw new Error(`run ${runId} asks and has no beginning`);
    const { approvalId, ...asked } = data;
    await askedCalls.note(tx, { org, runId, approvalId, groupKey: asked.groupKey });
    const { agentId, agentVersion, ownerId } = run;
    const question = { ...asked, runId, agentId, agentVersion, ownerId };
    await this.approvals.react(org, approvalId, { type: 'OpenApproval', question }, cause);
  }

  private async answerGroup(event: GroupApproved, at: Place, tx: Tx): Promise<void> {
    const { groupKey, approvalId, decision } = event.data;
    const actor = personOf(decision.decidedBy, event);
    const members = await askedCalls.of(tx, at.runId, groupKey);
    const command = { type: 'ApproveMember', approvedBy: approvalId, now: this.now() } as const;
    await onEach(members, (id) => this.approvals.react(at.org, id, command, at.cause, actor));
  }
}

/** A group is approved by a person; whoever applied it only passed it on. */
const personOf = (decidedBy: string, { actor }: DomainEvent): Actor =>
  decidedBy.startsWith('user:') ? (decidedBy as Actor) : actor;

const reasonOf = (event: RunRecord): string =>
  event.type === 'RunFailed' ? `run_failed: ${event.data.reason}` : (ENDED[event.type] ?? 'run_ended');
const ENDED: Readonly<Record<string, string>> = {
  RunSucceeded: 'run_succeeded',
  RunCancelled: 'run_cancelled',
  RunDeleted: 'run_deleted',
};

/** A question is to be listed within a second; steps of runs come by the thousand and ask nobody. */
const GATHER_MS = 100;

/** Steps of runs come by the thousand and most runs ask nobody; what concerns nobody here is passed by without being read. */
export function ofAskers(reaction: Projection): Projection {
  return {
    ...reaction,
    gatherMs: GATHER_MS,
    concerns: (commit) => mayHold(commit, CONCERNING),
    async apply(tx, commits) {
      const asking = new Set(commits.filter((commit) => mayHold(commit, ['ApprovalRequested'])).map(runOf));
      const known = await askedCalls.askers(tx, commits.map(runOf));
      const asked = commits.filter((commit) => asking.has(runOf(commit)) || known.has(runOf(commit)));
      if (asked.length > 0) await reaction.apply(tx, asked);
    },
  };
}

const runOf = ({ subject }: ProjectedCommit): string => parseSubject(subject)?.id ?? '';
