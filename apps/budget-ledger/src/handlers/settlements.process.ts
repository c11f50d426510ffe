import { RUN_EVENTS, parseSubject } from '@runyard/contracts';
import type {
  RunCancelled,
  RunEvent,
  RunFailed,
  RunQueued,
  RunSpend,
  RunSucceeded,
  TreeSpendLine,
} from '@runyard/contracts';
import { VersionConflict } from '@runyard/event-log';
import type { WorkQueues } from '@runyard/event-log';
import { eventsOf, isOrg, mayHold } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import { buryCommit, isWorthRepeating } from '@runyard/service';
import type { Logger } from '@runyard/service';
import { findRuns, forgetTrees, keepLines, linesOfTrees, noteRuns } from '../projections/tree.queries';
import type { TreeRun } from '../projections/tree.queries';
import type { Ledger, TreeSpend } from './ledger.process';

/** Data: name of the reaction, listed in the README; its checkpoint is kept under it. */
const NAME = 'ledger-settlements';
/** A run that has ended may wait a moment for others: those of an owner share a commit. */
const GATHER_MS = 200;
/** More lines than this are added up by agent and model: a settlement must fit its commit. */
const MOST_LINES = 500;

type RunEnd = RunSucceeded | RunFailed | RunCancelled;
interface Ended {
  commit: ProjectedCommit;
  event: RunEnd;
}

const CONCERNING = ['RunQueued', 'RunSucceeded', 'RunFailed', 'RunCancelled'];
const NOTHING: RunSpend = { lines: [], own: 0, children: 0 };

/**
 * Settles trees whose root has ended (P6.4). The order is: note runs and what children spent, settle (each append
 * acknowledged), forget the settled trees, then the checkpoint moves, in one transaction. A crash before its end repeats
 * all of it, and a settlement that was made already comes to nothing.
 */
export class Settlements {
  constructor(
    private readonly ledger: Ledger,
    private readonly queues: WorkQueues,
    private readonly logger: Logger,
  ) {}

  get reaction(): Projection {
    return {
      name: NAME,
      version: 1,
      stream: 'RUNS',
      gatherMs: GATHER_MS,
      reacts: true,
      concerns: (commit) => mayHold(commit, CONCERNING),
      apply: (tx, commits) => this.react(tx, commits),
    };
  }

  private async react(tx: Tx, commits: readonly ProjectedCommit[]): Promise<void> {
    const { queued, ended } = newsOf(commits);
    await noteRuns(tx, queued);
    const runs = await findRuns(tx, [...ended.keys()]);
    const children = runs.filter((run) => run.runId !== run.rootRunId);
    await keepLines(tx, new Map(children.map((run) => [run.runId, linesOf(run, ended)])));
    const roots = runs.filter((run) => run.runId === run.rootRunId);
    if (roots.length > 0) await this.settleAll(tx, roots, ended);
  }

  private async settleAll(
    tx: Tx,
    roots: readonly TreeRun[],
    ended: ReadonlyMap<string, Ended>,
  ): Promise<void> {
    const ids = roots.map((root) => root.runId);
    const below = await linesOfTrees(tx, ids);
    await Promise.all(
      roots.map(async (root) => {
        const end = ended.get(root.runId);
        if (end) await this.settleOrBury(root, end, below.get(root.runId) ?? []);
      }),
    );
    await forgetTrees(tx, ids);
  }

  private async settleOrBury(root: TreeRun, end: Ended, below: readonly TreeSpendLine[]): Promise<void> {
    try {
      await this.ledger.settle(root, spendOf(root, end.event, below));
    } catch (error) {
      if (error instanceof VersionConflict || isWorthRepeating(error)) throw error;
      const { queues, logger } = this;
      await buryCommit({ name: NAME, stream: 'RUNS' }, end.commit, error, { queues, logger });
    }
  }
}

function spendOf({ runId, agentId }: TreeRun, event: RunEnd, below: readonly TreeSpendLine[]): TreeSpend {
  const { own, children, lines } = event.data.spend ?? NOTHING;
  const all = [...lines.map((line) => ({ ...line, runId, agentId })), ...below];
  return {
    agentId,
    tokens: own + children,
    own,
    children,
    endedAt: event.time,
    lines: all.length > MOST_LINES ? addedUp(runId, all) : all,
  };
}

function newsOf(commits: readonly ProjectedCommit[]): { queued: TreeRun[]; ended: Map<string, Ended> } {
  const queued: TreeRun[] = [];
  const ended = new Map<string, Ended>();
  for (const commit of commits) {
    const { context, org = '', id: runId = '' } = parseSubject(commit.subject) ?? {};
    if (context !== 'runs' || !isOrg(org)) continue;
    for (const { event } of eventsOf<RunEvent>(commit, RUN_EVENTS)) {
      if (event.type === 'RunQueued') queued.push(treeRun(org, runId, event));
      else if (event.type === 'RunSucceeded' || event.type === 'RunFailed' || event.type === 'RunCancelled')
        ended.set(runId, { commit, event });
    }
  }
  return { queued, ended };
}

const treeRun = (org: string, runId: string, { data }: RunQueued): TreeRun => ({
  runId,
  org,
  rootRunId: data.rootRunId,
  ownerId: data.userId ?? data.ownerId,
  agentId: data.agentId,
});

const linesOf = ({ runId, agentId }: TreeRun, ended: ReadonlyMap<string, Ended>): TreeSpendLine[] =>
  (ended.get(runId)?.event.data.spend ?? NOTHING).lines.map((line) => ({ ...line, runId, agentId }));

/** The lines of a large tree by agent and model, in the root's name. */
function addedUp(rootRunId: string, lines: readonly TreeSpendLine[]): TreeSpendLine[] {
  const sums = new Map<string, TreeSpendLine>();
  for (const line of lines) {
    const { agentId, modelId, model, provider, tier } = line;
    const key = JSON.stringify([agentId, modelId, model, provider, tier]);
    const sum = sums.get(key);
    sums.set(key, {
      ...line,
      runId: rootRunId,
      calls: line.calls + (sum?.calls ?? 0),
      input: line.input + (sum?.input ?? 0),
      output: line.output + (sum?.output ?? 0),
      cached: line.cached + (sum?.cached ?? 0),
      estimated: line.estimated + (sum?.estimated ?? 0),
    });
  }
  return [...sums.values()];
}
