import { Problem } from '@runyard/contracts';
import type { AgentBehaviour, AgentRevised } from '@runyard/contracts';
import { etagOf, requireActive } from './agent';
import type { ActiveAgent, Agent } from './agent';
import type {
  AgentCommand,
  CatalogueView,
  CreateAgent,
  DeleteAgent,
  DisableAgent,
  EnableAgent,
  LockAgent,
  UnlockAgent,
  UpdateAgent,
} from './agent-commands';
import { react } from './agent-reactions';
import { cleaned, rowsFor } from './agent-references';
import type { AgentDecision } from './decision';
import { requireAdmin, requireOwner, requireOwnerOrAdmin } from './rights';
import { same } from './same';

const WHAT = 'The agent';

/** What a command leads to. A wish that is already true yields nothing; a refusal is thrown as a Problem. */
export function decide(agent: Agent, command: AgentCommand): AgentDecision[] {
  switch (command.type) {
    case 'CreateAgent':
      return createAgent(agent, command);
    case 'UpdateAgent':
      return updateAgent(requireActive(agent), command);
    case 'EnableAgent':
      return enableAgent(requireActive(agent), command);
    case 'DisableAgent':
      return disableAgent(requireActive(agent), command);
    case 'LockAgent':
    case 'UnlockAgent':
      return lockAgent(requireActive(agent), command);
    case 'DeleteAgent':
      return deleteAgent(agent, command);
    case 'ClearModel':
    case 'UnlinkTool':
    case 'DisableForOwner':
    case 'DeleteForOwner':
      return react(agent, command);
    default:
      return command satisfies never;
  }
}

function createAgent(agent: Agent, command: CreateAgent): AgentDecision[] {
  const { asker, ownerId, owner, catalogue, details, enabled } = command;
  if (agent.situation === 'active')
    throw new Problem('already_exists', 'An agent with this id is there already; choose another id');
  if (!asker.system && asker.userId !== ownerId)
    requireAdmin(asker, "create agents that are somebody else's");
  // Its kept runs name this id and its versions; another owner's runs must not mix with them (domain, section 2).
  if (agent.situation === 'deleted' && agent.history === 'keep' && agent.ownerId !== ownerId)
    throw new Problem(
      'already_exists',
      'This id belonged to an agent whose runs are kept; only its former owner can use it again',
    );
  if (owner.standing === 'unknown')
    throw new Problem(
      'invalid_request',
      'The owner is not a user of this organization',
      field('/owner_id', 'is not a user of this organization'),
    );
  if (owner.standing === 'inactive')
    throw new Problem('owner_inactive', 'The owner is deactivated; reactivate them first');
  const { modelId = catalogue.defaultModelId } = command.behaviour;
  const behaviour = cleaned({ ...command.behaviour, modelId });
  const rows = rowsFor(behaviour, catalogue);
  const version = agent.version + 1;
  return [
    {
      type: 'AgentCreated',
      data: {
        ownerId,
        version,
        behaviour,
        details,
        enabled,
        ownerDeactivations: owner.deactivations,
        ...rows,
      },
    },
  ];
}

function updateAgent(agent: ActiveAgent, command: UpdateAgent): AgentDecision[] {
  requireOwnerOrAdmin(command.asker, agent.ownerId, WHAT);
  requireMatch(agent, command.ifMatch);
  const behaviour = cleaned({ ...agent.behaviour, ...command.behaviour });
  const details = { ...agent.details, ...command.details };
  const decided: AgentDecision[] = [];
  if (!same(behaviour, agent.behaviour)) decided.push(revised(agent, behaviour, command.catalogue));
  if (!same(details, agent.details)) decided.push({ type: 'AgentEdited', data: { details } });
  return decided;
}

function revised(
  agent: ActiveAgent,
  behaviour: AgentBehaviour,
  catalogue: CatalogueView,
): Pick<AgentRevised, 'type' | 'data'> {
  return {
    type: 'AgentRevised',
    data: { version: agent.version + 1, behaviour, ...rowsFor(behaviour, catalogue, agent) },
  };
}

function enableAgent(agent: ActiveAgent, { asker, owner, reason, ifMatch }: EnableAgent): AgentDecision[] {
  requireOwner(asker, agent.ownerId);
  requireMatch(agent, ifMatch);
  if (owner.standing !== 'active')
    throw new Problem('owner_inactive', 'Its owner is deactivated; an admin must reactivate them first');
  // Said again by an owner who has returned, before the reaction to their leaving came through: it must not undo this.
  if (agent.enabled.on && agent.ownerDeactivations >= owner.deactivations) return [];
  return [{ type: 'AgentEnabled', data: { reason, ownerDeactivations: owner.deactivations } }];
}

function disableAgent(agent: ActiveAgent, { asker, reason, ifMatch }: DisableAgent): AgentDecision[] {
  requireOwner(asker, agent.ownerId);
  requireMatch(agent, ifMatch);
  return agent.enabled.on ? [{ type: 'AgentDisabled', data: { reason } }] : [];
}

/** The admin's axis: it neither looks at the owner's switch nor moves it. */
function lockAgent(
  agent: ActiveAgent,
  { type, asker, reason, ifMatch }: LockAgent | UnlockAgent,
): AgentDecision[] {
  const lock = type === 'LockAgent';
  requireAdmin(asker, lock ? 'lock agents' : 'release the lock of an agent');
  requireMatch(agent, ifMatch);
  if (agent.locked.on === lock) return [];
  return [{ type: lock ? 'AgentLocked' : 'AgentUnlocked', data: { reason } }];
}

function deleteAgent(agent: Agent, { asker, history, ifMatch }: DeleteAgent): AgentDecision[] {
  if (agent.situation === 'absent') throw new Problem('not_found', 'There is no such agent');
  requireOwnerOrAdmin(asker, agent.ownerId, WHAT);
  // Purging an agent whose history was kept at first is a wish of its own.
  if (agent.situation === 'deleted')
    return history === 'purge' && agent.history === 'keep'
      ? [{ type: 'AgentDeleted', data: { history } }]
      : [];
  requireMatch(agent, ifMatch);
  return [{ type: 'AgentDeleted', data: { history } }];
}

function requireMatch(agent: ActiveAgent, ifMatch: string | undefined): void {
  const etag = etagOf(agent);
  if (ifMatch !== undefined && ifMatch !== etag)
    throw new Problem(
      'version_mismatch',
      'The agent was changed since it was read; read it again and repeat the edit',
      { etag },
    );
}

const field = (pointer: string, detail: string) => ({ errors: [{ pointer, detail }] });
