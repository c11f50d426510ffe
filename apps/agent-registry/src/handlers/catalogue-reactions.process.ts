import { AGENT_EVENTS, CATALOGUE_EVENTS, Problem, parseSubject } from '@runyard/contracts';
import type { AgentEvent, CatalogueEvent, DomainEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import type { Commit } from '@runyard/event-log';
import type { Tx } from '@runyard/persistence';
import { onEach } from '@runyard/service';
import type { Reaction } from '@runyard/service';
import type { AgentReaction } from '../domain/agent-commands';
import { agentsWithModel, agentsWithTool } from '../projections/agent.queries';
import { catalogueAsFarAs } from './catalogue-wait';
import type { RegistryLog } from './registry-log.adapter';

type Chosen = Extract<AgentEvent, { type: 'AgentCreated' | 'AgentRevised' }>;

/**
 * What leaves the catalogue leaves the agents: `ModelRemoved` → `AgentModelCleared`, `ToolRemoved` → `AgentToolUnlinked`.
 *
 * Invariants:
 * 1. Every agent that referred to the removed row loses it: those whose rows reflect the removal's position are found by
 *    the rows; one that was decided on an older list and appended later is found by its own event.
 * 2. Nobody else does: the row's incarnation tells a reference from one that was chosen after the row had returned.
 * 3. Doing it again comes to nothing (the decider sees that the reference is gone, or newer).
 * A crash before the checkpoint moved repeats the commit; by 3 that is harmless.
 */
export function catalogueReaction(registry: RegistryLog): Reaction {
  return {
    name: 'registry-catalogue-reaction',
    version: 1,
    stream: 'AGENTS',
    async react(commit, tx) {
      const { org, id, context } = parseSubject(commit.subject) ?? {};
      if (!org || !id) return;
      const cause = (index: number) => `${commit.sequence}.${index}`;
      const { events } = decodeEvents(commit, { ...AGENT_EVENTS, ...CATALOGUE_EVENTS });
      for (const [index, event] of events.entries()) {
        if (context === 'catalogue')
          await leave(registry, tx, { org, commit, cause: cause(index) }, event as CatalogueEvent);
        if (context === 'agents' && isChoice(event))
          await recheck(registry, { org, agentId: id, cause: cause(index) }, event);
      }
    },
  };
}

interface Leaving {
  org: string;
  commit: Commit;
  cause: string;
}

async function leave(registry: RegistryLog, tx: Tx, at: Leaving, event: CatalogueEvent): Promise<void> {
  if (event.type !== 'ModelRemoved' && event.type !== 'ToolRemoved') return;
  await catalogueAsFarAs(tx, at.commit.sequence);
  const { org, cause } = at;
  if (event.type === 'ModelRemoved') {
    const { modelId } = event.data;
    const row = await incarnationAt(registry, org, 'models', at, modelId);
    const agents = await agentsWithModel(tx, org, modelId);
    await onEach(agents, (id) => apply(registry, org, id, { type: 'ClearModel', modelId, row }, cause));
  } else {
    const { name: tool } = event.data;
    const row = await incarnationAt(registry, org, 'tools', at, tool);
    const agents = await agentsWithTool(tx, org, tool);
    await onEach(agents, (id) => apply(registry, org, id, { type: 'UnlinkTool', tool, row }, cause));
  }
}

/** Which incarnation a removal took: as the list stood when it was removed, whatever came since. */
async function incarnationAt(
  registry: RegistryLog,
  org: string,
  list: 'models' | 'tools',
  at: Leaving,
  id: string,
): Promise<number> {
  const { incarnations } = await registry.listAsOf(org, list, at.commit.sequence);
  const row = incarnations[id];
  if (row === undefined)
    throw new Problem('internal', `${at.commit.subject} removed ${id}, which it never had`);
  return row;
}

const isChoice = (event: DomainEvent): event is Chosen =>
  event.type === 'AgentCreated' || event.type === 'AgentRevised';

/** Invariant 1, second half: an agent's choice that the list did not bear out any more when it was appended. */
async function recheck(
  registry: RegistryLog,
  at: { org: string; agentId: string; cause: string },
  { data }: Chosen,
): Promise<void> {
  const { org, agentId, cause } = at;
  const { modelId, tools } = data.behaviour;
  if (modelId === null && tools.length === 0) return;
  const { modelRows, toolRows } = await registry.catalogue(org);
  const chosen = data.modelRow ?? 1;
  if (modelId !== null && modelRows[modelId] !== chosen)
    await apply(registry, org, agentId, { type: 'ClearModel', modelId, row: chosen }, cause);
  for (const tool of tools) {
    const row = data.toolRows?.[tool] ?? 1;
    if (toolRows[tool] !== row) await apply(registry, org, agentId, { type: 'UnlinkTool', tool, row }, cause);
  }
}

async function apply(
  registry: RegistryLog,
  org: string,
  agentId: string,
  command: AgentReaction,
  cause: string,
): Promise<void> {
  await registry.react(registry.agent(org, agentId), command, cause);
}
