import { Problem } from '@runyard/contracts';
import type { Actor, AgentBehaviour, AgentDetails, AgentEvent } from '@runyard/contracts';

/** A switch or lock, who set it last and why; `by` null: nobody has touched it yet. */
export interface Setting {
  on: boolean;
  by: Actor | null;
  reason: string | null;
}

/** What is left of an agent in every situation: its numbers go on for ever. */
interface Numbers {
  /** Of the newest version. */
  version: number;
  /** Events since it was created; with the version, which goes on when a slug is used again, it is the ETag. */
  revision: number;
  ownerId: string;
}

export interface ActiveAgent extends Numbers {
  situation: 'active';
  /** As it would run now: the version's, less what an admin removed since. */
  behaviour: AgentBehaviour;
  /** Incarnation of the model's row that the author chose; null without model. */
  modelRow: number | null;
  /** Incarnation of each linked tool's row. */
  toolRows: Readonly<Record<string, number>>;
  details: AgentDetails;
  enabled: Setting;
  /** How often the owner had been deactivated when `enabled` was set to true. */
  ownerDeactivations: number;
  locked: Setting;
  createdAt: number;
  /** Time of the last edit; switches and locks do not move it. */
  updatedAt: number;
}

/** History `keep`: runs still name it, so only its owner may use the slug again. */
export interface DeletedAgent extends Numbers {
  situation: 'deleted';
  history: 'keep' | 'purge';
}

export type Agent = { situation: 'absent'; version: 0; revision: 0 } | ActiveAgent | DeletedAgent;

export const NO_AGENT: Agent = { situation: 'absent', version: 0, revision: 0 };

export const etagOf = (agent: { version: number; revision: number }): string =>
  `${agent.version}.${agent.revision}`;

/** Narrows to an agent that is there. Throws `not_found`. */
export function requireActive(agent: Agent): ActiveAgent {
  if (agent.situation !== 'active') throw new Problem('not_found', 'There is no such agent');
  return agent;
}

/** The agent after an event. Total: an event that does not fit the situation leaves it as it is, but counts. */
export function evolve(agent: Agent, event: AgentEvent): Agent {
  if (event.type === 'AgentCreated') return created(agent, event);
  if (event.type === 'AgentDeleted') return deleted(agent, event.data.history);
  if (agent.situation !== 'active') return agent;
  const next = { ...agent, revision: agent.revision + 1 };
  switch (event.type) {
    case 'AgentRevised': {
      const { version, behaviour } = event.data;
      return { ...next, version, behaviour, ...rowsOf(event), updatedAt: event.time };
    }
    case 'AgentEdited':
      return { ...next, details: whole(event.data.details), updatedAt: event.time };
    case 'AgentEnabled':
      return {
        ...next,
        enabled: setting(true, event),
        ownerDeactivations: event.data.ownerDeactivations ?? 0,
      };
    case 'AgentDisabled':
      return { ...next, enabled: setting(false, event) };
    case 'AgentLocked':
      return { ...next, locked: setting(true, event) };
    case 'AgentUnlocked':
      return { ...next, locked: setting(false, event) };
    case 'AgentModelCleared':
      return { ...next, behaviour: { ...agent.behaviour, modelId: null }, modelRow: null };
    case 'AgentToolUnlinked':
      return unlinked(next, event.data.tool);
    default:
      return event satisfies never;
  }
}

function created(agent: Agent, event: Extract<AgentEvent, { type: 'AgentCreated' }>): ActiveAgent {
  const { ownerId, version, behaviour, details, enabled, ownerDeactivations = 0 } = event.data;
  return {
    situation: 'active',
    version,
    revision: 1,
    ownerId,
    behaviour,
    ...rowsOf(event),
    details: whole(details),
    enabled: { on: enabled, by: event.actor, reason: null },
    ownerDeactivations,
    locked: { on: false, by: null, reason: null },
    createdAt: event.time,
    updatedAt: event.time,
  };
}

function deleted(agent: Agent, history: 'keep' | 'purge'): Agent {
  if (agent.situation === 'absent') return agent;
  const { version, revision, ownerId } = agent;
  return { situation: 'deleted', version, revision: revision + 1, ownerId, history };
}

/** An event written before agents had the choice means what held then. */
const whole = (details: AgentDetails): AgentDetails => ({ catchUp: 'latest', ...details });

/** An event written before rows had incarnations means the first one. */
function rowsOf({
  data,
}: Extract<AgentEvent, { type: 'AgentCreated' | 'AgentRevised' }>): Pick<
  ActiveAgent,
  'modelRow' | 'toolRows'
> {
  const { modelId, tools } = data.behaviour;
  return {
    modelRow: modelId === null ? null : (data.modelRow ?? 1),
    toolRows: Object.fromEntries(tools.map((tool) => [tool, data.toolRows?.[tool] ?? 1])),
  };
}

function setting(on: boolean, event: { actor: Actor; data: { reason: string | null } }): Setting {
  return { on, by: event.actor, reason: event.data.reason };
}

function unlinked(agent: ActiveAgent, tool: string): ActiveAgent {
  const { [tool]: _gone, ...toolRows } = agent.toolRows;
  const tools = agent.behaviour.tools.filter((name) => name !== tool);
  return { ...agent, behaviour: { ...agent.behaviour, tools }, toolRows };
}
