import { VersionConflict } from '@runyard/event-log';
import { decideControl } from '../domain/controls';
import { requireStartable } from '../domain/intake';
import type { LiveRun } from '../domain/run';
import type { Children } from './children.process';
import type { RegistryFacts } from './registry.adapter';
import type { LoadedRun } from './run-log.adapter';

type Agents = Pick<RegistryFacts, 'agentAndOwner'>;

/** Whether an agent starts nothing as of now, by the logs of it and its owner. */
export async function isClosed(registry: Agents, org: string, agentId: string): Promise<boolean> {
  const { agent, owner } = await registry.agentAndOwner(org, agentId);
  try {
    requireStartable(agent, owner?.active ?? false);
    return false;
  } catch {
    return true;
  }
}

/**
 * A queued run does not start once its agent was stopped (domain, section 2). The stop cancels what the rows show; a run that
 * was queued within their lag, or whose request was judged before the stop, is cancelled here, before its first claim. Null:
 * it may start. `again`: it moved on meanwhile.
 */
export async function endIfStopped(
  { registry, children }: { registry: Agents; children: Pick<Children, 'closeAfter'> },
  loaded: LoadedRun,
  run: LiveRun,
): Promise<'nothing_to_do' | 'again' | null> {
  if (run.situation !== 'queued' || !(await isClosed(registry, loaded.org, run.identity.agentId)))
    return null;
  try {
    const cancelled = decideControl(run, { type: 'CancelRun', reason: 'agent_stopped' });
    await children.closeAfter(loaded, run, cancelled);
    return 'nothing_to_do';
  } catch (error) {
    if (error instanceof VersionConflict) return 'again';
    throw error;
  }
}
