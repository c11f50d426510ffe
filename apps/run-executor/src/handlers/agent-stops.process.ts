import { setTimeout as wait } from 'node:timers/promises';
import type { AgentEvent } from '@runyard/contracts';
import { AGENT_EVENTS, parseSubject } from '@runyard/contracts';
import { decodeEvents, VersionConflict } from '@runyard/event-log';
import { onEach } from '@runyard/service';
import type { Reaction } from '@runyard/service';
import type { Control } from '../domain/controls';
import { decideControl } from '../domain/controls';
import { foldNew } from '../domain/next';
import { isLive } from '../domain/run';
import type { Run } from '../domain/run';
import { runsOfAgent } from '../projections/agent-runs.queries';
import type { Presence } from './presence.adapter';
import type { RegistryFacts } from './registry.adapter';
import type { RunLog } from './run-log.adapter';
import { isClosed } from './stopped-agents.process';

export interface StopPorts {
  runs: RunLog;
  registry: RegistryFacts;
  presence: Presence;
  release: (org: string, runId: string) => Promise<void>;
}

const CLOSING: ReadonlySet<AgentEvent['type']> = new Set([
  'AgentDisabled',
  'AgentLocked',
  'AgentModelCleared',
  'AgentDeleted',
]);
/** Conflicts with a run's own progress before it is left to the reaction's next attempt. */
const TRIES = 20;
/** A run that is purged has this long to end; its driver obeys within milliseconds. */
const END_WITHIN_MS = 4_000;
const LOOK_EVERY_MS = 50;

/**
 * An agent that is switched off, locked, left without model or deleted starts nothing more: its queued runs are cancelled
 * (`agent_stopped`), running ones finish (domain, section 2). `history=purge` erases its runs as well: unfinished ones are
 * cancelled to their end first. Doing it again comes to nothing; an agent that was opened again meanwhile keeps its queue.
 * What is not among the rows yet, since they lag or its request was judged before the stop, is cancelled at its first claim.
 */
export function stopReaction(ports: StopPorts): Reaction {
  return {
    name: 'run-executor-agents',
    version: 1,
    stream: 'AGENTS',
    filter: 'runyard.agents.>',
    async react(commit, tx) {
      const { org, id } = parseSubject(commit.subject) ?? {};
      if (!org || !id) return;
      const { events } = decodeEvents(commit, AGENT_EVENTS);
      for (const event of events as AgentEvent[]) {
        if (!CLOSING.has(event.type)) continue;
        if (event.type === 'AgentDeleted' && event.data.history === 'purge')
          await onEach(await runsOfAgent(tx, org, id), (runId) => purge(ports, org, runId));
        else if (await isClosed(ports.registry, org, id))
          await onEach(await runsOfAgent(tx, org, id, 'queued'), (runId) => cancelQueued(ports, org, runId));
      }
    },
  };
}

/** A run that was claimed meanwhile finishes. */
const cancelQueued = (ports: StopPorts, org: string, runId: string): Promise<Run> =>
  tell(ports, org, runId, (run) =>
    run.situation === 'queued' ? { type: 'CancelRun', reason: 'agent_stopped' } : null,
  );

async function purge(ports: StopPorts, org: string, runId: string): Promise<void> {
  const until = performance.now() + END_WITHIN_MS;
  for (;;) {
    const after = await tell(ports, org, runId, (run) => {
      if (run.situation === 'none' || (run.situation === 'ended' && run.deleted)) return null;
      return isLive(run) ? { type: 'CancelRun', reason: 'agent_stopped' } : { type: 'DeleteRun' };
    });
    if (!isLive(after) && (after.situation === 'none' || after.deleted)) return;
    if (performance.now() > until) throw new Error(`run ${runId} does not end; it is purged later`);
    if (isLive(after)) await wait(LOOK_EVERY_MS);
  }
}

/** Appends what a control comes to on the run as it stands; where it stands then. */
async function tell(
  { runs, presence, release }: StopPorts,
  org: string,
  runId: string,
  wish: (run: Run) => Control | null,
): Promise<Run> {
  for (let tries = 0; tries < TRIES; tries++) {
    const loaded = await runs.glance(org, runId);
    const control = wish(loaded.run);
    const events = control ? decideControl(loaded.run, control) : [];
    if (events.length === 0) return loaded.run;
    try {
      const { time } = await runs.append(loaded, events, 'system:run-executor');
      const after = foldNew(loaded.run, events, time);
      if (after.situation === 'ended') await release(org, runId);
      else if (isLive(after) && after.instance) presence.wake(after.instance, runId);
      return after;
    } catch (error) {
      if (!(error instanceof VersionConflict)) throw error;
    }
  }
  throw new Error(`run ${runId} moved on too fast to be stopped`);
}
