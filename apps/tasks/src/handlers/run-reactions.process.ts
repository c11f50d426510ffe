import { ERASURE_EVENTS, RUN_EVENTS, parseSubject, taskOfRequester } from '@runyard/contracts';
import type { RunErased, RunEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Commit, WorkQueues } from '@runyard/event-log';
import { eventsOf, mayHold } from '@runyard/persistence';
import type { ProjectedCommit, Projection, Tx } from '@runyard/persistence';
import { reactionProjection } from '@runyard/service';
import type { Logger, Reaction } from '@runyard/service';
import { blobOf, linkRuns, tasksOfRuns, unlinkRun } from '../projections/watch.queries';
import { requesting } from './dependencies';
import type { ReactionPorts } from './task-reactions.process';

const ENDS = ['RunSucceeded', 'RunFailed', 'RunCancelled', 'RunSkipped', 'RunDeleted'];
/** Lies on the org's subject, since the run's own log is empty by then. */
const ERASED = ['RunErased'];
const CONCERNING = ['RunQueued', ...ENDS, ...ERASED];
/** A task may wait a moment; steps of runs come by the thousand and concern nobody here. */
const GATHER_MS = 100;

/**
 * The end of a task's run → the task's next phase (P8.2). A run's task is found by its queueing, which comes before its end
 * in the same stream and is remembered in the same transaction, so that no end is missed however far the rows lag. What is
 * decided twice comes to nothing: the task knows which run it waits for.
 */
export function runReaction(ports: ReactionPorts): Reaction {
  return {
    name: 'tasks-runs-reaction',
    version: 1,
    stream: 'RUNS',
    async react(commit, tx) {
      const { context, org, id: runId } = parseSubject(commit.subject) ?? {};
      if (!org || !runId) return;
      if (context === 'erasures') return forgetErased(ports, org, commit, tx);
      const taskId = (await tasksOfRuns(tx, [runId])).get(runId);
      if (taskId === undefined) return;
      const { events } = decodeEvents(commit, RUN_EVENTS);
      const index = events.findIndex(({ type }) => ENDS.includes(type));
      if (index < 0) return;
      const cause = `${commit.sequence}.${index}`;
      if (events[index]?.type === 'RunDeleted') return forget(ports, { org, taskId, runId, cause }, tx);
      await applyEnd(ports, { org, taskId, runId, cause }, (blobsOrg, digest) =>
        blobOf(tx, blobsOrg, digest),
      );
    },
  };
}

interface TaskRun {
  org: string;
  taskId: string;
  runId: string;
  cause: string;
}

async function forget(
  { tasks }: ReactionPorts,
  { org, taskId, runId, cause }: TaskRun,
  tx: Tx,
): Promise<void> {
  await tasks.react(org, taskId, { type: 'ForgetRun', runId }, cause);
  await unlinkRun(tx, runId);
}

async function forgetErased(ports: ReactionPorts, org: string, commit: Commit, tx: Tx): Promise<void> {
  const erased = decodeEvents(commit, ERASURE_EVENTS).events as RunErased[];
  const known = await tasksOfRuns(
    tx,
    erased.map(({ data }) => data.runId),
  );
  for (const [index, { data }] of erased.entries()) {
    const taskId = known.get(data.runId);
    if (taskId === undefined) continue;
    await forget(ports, { org, taskId, runId: data.runId, cause: `${commit.sequence}.${index}` }, tx);
  }
}

/** Applies what the run's log says of its end; true where it has ended. */
export async function applyEnd(
  { tasks, runs }: ReactionPorts,
  { org, taskId, runId, cause }: { org: string; taskId: string; runId: string; cause?: string },
  readText: (org: string, digest: string) => Promise<string | null>,
): Promise<boolean> {
  const found = await runs.standing(org, runId, readText);
  if (found.standing !== 'ended') return false;
  const task = await tasks.read(org, taskId);
  if (task.situation !== 'live') return true;
  const needed = await requesting(tasks, org, taskId, task);
  await tasks.react(org, taskId, { type: 'RunEnded', outcome: found.outcome, ...needed }, cause);
  return true;
}

/** The reaction as a projection that looks only at commits that concern tasks. */
export function runReactionProjection(ports: ReactionPorts, queues: WorkQueues, logger: Logger): Projection {
  const inner = reactionProjection(runReaction(ports), queues, logger);
  return {
    ...inner,
    gatherMs: GATHER_MS,
    concerns: (commit) => mayHold(commit, CONCERNING),
    async apply(tx, commits) {
      const links = commits.flatMap(linkOf);
      if (links.length > 0) await linkRuns(tx, links);
      const ending = commits.filter((commit) => mayHold(commit, [...ENDS, ...ERASED]));
      const known = await tasksOfRuns(tx, ending.map(runOf));
      const ofTasks = ending.filter((commit) => known.has(runOf(commit)) || mayHold(commit, ERASED));
      if (ofTasks.length > 0) await inner.apply(tx, ofTasks);
    },
  };
}

const runOf = ({ subject }: ProjectedCommit): string => parseSubject(subject)?.id ?? '';

/** A run names the task that asked for it as who requested it. */
function linkOf(commit: ProjectedCommit): { runId: string; org: string; taskId: string }[] {
  if (!Buffer.from(commit.body).includes('"trigger":"task"')) return [];
  return eventsOf<RunEvent>(commit, RUN_EVENTS).flatMap(({ event, org, aggregate: runId }) => {
    if (event.type !== 'RunQueued' && event.type !== 'RunSkipped') return [];
    const taskId = taskOfRequester(event.data.requestedBy);
    return event.data.trigger === 'task' && taskId !== undefined ? [{ runId, org, taskId }] : [];
  });
}
