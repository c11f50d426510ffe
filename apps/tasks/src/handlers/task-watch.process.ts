import type { Blobs } from '@runyard/persistence';
import { onEach } from '@runyard/service';
import type { WatchQueries, Watched } from '../projections/watch.queries';
import { requesting } from './dependencies';
import { applyEnd } from './run-reactions.process';
import type { ReactionPorts } from './task-reactions.process';

/** A request that no run has come of for this long is sent again: intake's refusal may have been lost (P2.7). */
const UNHEARD_MS = 5_000;
/** A run under way is looked at this often: its end may have been given up on by a reaction. */
const LOOK_MS = 60_000;

export interface WatchPorts extends ReactionPorts {
  watched: WatchQueries;
  blobs: Blobs;
  now: () => number;
}

/** What no event tells of: pauses that are over, stops that are not done, owners who are gone, requests and ends that got lost. */
export class TaskWatch {
  private lookedAt = 0;

  constructor(private readonly ports: WatchPorts) {}

  async pass(): Promise<void> {
    const { watched, now } = this.ports;
    await onEach(await watched.dueAgain(now()), (task) => this.again(task));
    await onEach(await watched.stopping(), (task) => this.stop(task));
    await onEach(await watched.ofDeparted(), ({ org, taskId, userId }) => this.disown(org, taskId, userId));
    await onEach(await watched.unheard(now() - UNHEARD_MS), (task) => this.look(task));
    if (now() - this.lookedAt < LOOK_MS) return;
    this.lookedAt = now();
    await onEach(await watched.longAtWork(now() - LOOK_MS), (task) => this.look(task));
  }

  private async disown(org: string, taskId: string, userId: string): Promise<void> {
    await this.ports.tasks.react(org, taskId, { type: 'ClearOwner', userId });
  }

  private async again({ org, taskId }: Watched): Promise<void> {
    const { tasks, now } = this.ports;
    const task = await tasks.read(org, taskId);
    if (task.situation !== 'live') return;
    const needed = await requesting(tasks, org, taskId, task);
    await tasks.react(org, taskId, { type: 'RequestAgain', ...needed, now: now() });
  }

  private async stop({ org, taskId }: Watched): Promise<void> {
    const task = await this.ports.tasks.read(org, taskId);
    if (task.situation === 'live' && task.stopping && task.active)
      await this.ports.runs.cancel(org, task.active.runId);
  }

  private async look({ org, taskId }: Watched): Promise<void> {
    const { tasks, runs, blobs } = this.ports;
    const task = await tasks.read(org, taskId);
    if (task.situation !== 'live' || !task.active) return;
    const { runId } = task.active;
    const readText = async (of: string, digest: string) => (await blobs.get(of, digest)) ?? null;
    if (await applyEnd(this.ports, { org, taskId, runId }, readText)) return;
    const { standing } = await runs.standing(org, runId, readText);
    if (standing === 'unknown') await runs.request(org, taskId, task.active);
  }
}
