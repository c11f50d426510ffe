import { AGENT_EVENTS, PEOPLE_EVENTS, parseSubject } from '@runyard/contracts';
import type { AgentEvent, PeopleEvent } from '@runyard/contracts';
import { decodeEvents } from '@runyard/event-log';
import { onEach } from '@runyard/service';
import type { Reaction } from '@runyard/service';
import type { Tx } from '@runyard/persistence';
import type { AgentReaction } from '../domain/agent-commands';
import { agentsEverOwnedBy } from '../projections/agent.queries';
import { catalogueAsFarAs } from './catalogue-wait';
import type { RegistryLog } from './registry-log.adapter';

/**
 * Who leaves, leaves with their agents: `UserDeactivated` → `AgentDisabled`, `UserDeleted` → `AgentDeleted` (history kept).
 *
 * Invariants:
 * 1. Agents are looked for when the rows reflect the whole of AGENTS as it stood after the user had left; one that was
 *    appended later on an older view of its owner is found by {@link ownerReaction}.
 * 2. The number of the deactivation tells a switch that was set before it from one set after a return.
 * 3. Doing it again comes to nothing.
 */
export function peopleReaction(registry: RegistryLog): Reaction {
  return {
    name: 'registry-people-reaction',
    version: 1,
    stream: 'PEOPLE',
    async react(commit, tx) {
      const org = parseSubject(commit.subject)?.org;
      const { events } = decodeEvents(commit, PEOPLE_EVENTS);
      for (const [index, event] of (events as PeopleEvent[]).entries()) {
        if (!org || (event.type !== 'UserDeactivated' && event.type !== 'UserDeleted')) continue;
        const { userId: ownerId } = event.data;
        const command: AgentReaction =
          event.type === 'UserDeleted'
            ? { type: 'DeleteForOwner', ownerId }
            : {
                type: 'DisableForOwner',
                ownerId,
                deactivation: await registry.deactivationsAsOf(org, ownerId, commit.sequence),
              };
        await forAll(registry, tx, { org, ownerId, cause: `${commit.sequence}.${index}` }, command);
      }
    },
  };
}

async function forAll(
  registry: RegistryLog,
  tx: Tx,
  at: { org: string; ownerId: string; cause: string },
  command: AgentReaction,
): Promise<void> {
  await catalogueAsFarAs(tx, await registry.endOfAgents());
  const agents = await agentsEverOwnedBy(tx, at.org, at.ownerId);
  await onEach(agents, (id) => registry.react(registry.agent(at.org, id), command, at.cause));
}

/**
 * The other side of the race: an agent that was created or switched on while its owner left. Its event says how often the
 * owner had been deactivated then; a later deactivation, or a deletion, takes effect here.
 */
export function ownerReaction(registry: RegistryLog): Reaction {
  return {
    name: 'registry-owner-reaction',
    version: 1,
    stream: 'AGENTS',
    async react(commit) {
      const { org, id } = parseSubject(commit.subject) ?? {};
      const { events } = decodeEvents(commit, AGENT_EVENTS);
      for (const [index, event] of (events as AgentEvent[]).entries()) {
        if (!org || !id || (event.type !== 'AgentCreated' && event.type !== 'AgentEnabled')) continue;
        const cause = `${commit.sequence}.${index}`;
        const agent = await registry.read(registry.agent(org, id));
        if (agent.situation !== 'active') continue;
        const { ownerId } = agent;
        const owner = await registry.owner(org, ownerId);
        const since = event.data.ownerDeactivations ?? 0;
        if (owner.standing === 'unknown')
          await registry.react(registry.agent(org, id), { type: 'DeleteForOwner', ownerId }, cause);
        else if (owner.deactivations > since)
          await registry.react(
            registry.agent(org, id),
            { type: 'DisableForOwner', ownerId, deactivation: owner.deactivations },
            cause,
          );
      }
    },
  };
}
