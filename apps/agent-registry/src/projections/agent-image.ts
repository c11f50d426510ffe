import type { AgentEvent } from '@runyard/contracts';
import { behaviourColumns, detailColumns } from './agent-records';
import type { AgentRecord, LinkRecord, VersionRecord } from './agent-records';
import type { RecordedAs } from './commits';

/** What an agent's events leave in `agents` and `agent_tools`; null: no such agent (any more). */
export interface AgentImage {
  row: AgentRecord;
  links: LinkRecord[];
}

export type AgentRecorded = RecordedAs<AgentEvent>;

/** The image after an event. Pure; events of an agent that is not there leave nothing. */
export function evolveImage(image: AgentImage | null, event: AgentRecorded): AgentImage | null {
  if (event.type === 'AgentCreated') return created(event, event.data);
  if (event.type === 'AgentDeleted' || image === null) return null;
  const row = {
    ...image.row,
    revision: image.row.revision + 1,
    position: event.position,
    ...changedColumns(event),
  };
  if (event.type === 'AgentRevised')
    return { row, links: linked(event, event.data.behaviour.tools, image.links) };
  if (event.type !== 'AgentToolUnlinked') return { row, links: image.links };
  const { tool } = event.data;
  return { row, links: image.links.filter((link) => link.tool !== tool) };
}

type Change = Exclude<AgentRecorded, { type: 'AgentCreated' | 'AgentDeleted' }>;

function changedColumns(event: Change): Partial<AgentRecord> {
  switch (event.type) {
    case 'AgentRevised': {
      const { version, behaviour } = event.data;
      return { agent_version: version, ...behaviourColumns(behaviour), updated_at: event.time };
    }
    case 'AgentEdited':
      return { ...detailColumns(event.data.details), updated_at: event.time };
    case 'AgentEnabled':
    case 'AgentDisabled': {
      const enabled = event.type === 'AgentEnabled';
      return { enabled, enabled_by: event.actor, enabled_reason: event.data.reason };
    }
    case 'AgentLocked':
    case 'AgentUnlocked': {
      const locked = event.type === 'AgentLocked';
      return { admin_paused: locked, admin_paused_by: event.actor, admin_paused_reason: event.data.reason };
    }
    case 'AgentModelCleared':
      return { model_id: null };
    case 'AgentToolUnlinked':
      return {};
    default:
      return event satisfies never;
  }
}

function created(
  event: AgentRecorded,
  data: Extract<AgentEvent, { type: 'AgentCreated' }>['data'],
): AgentImage {
  const row: AgentRecord = {
    org_id: event.org,
    agent_id: event.id,
    agent_version: data.version,
    revision: 1,
    owner_id: data.ownerId,
    ...behaviourColumns(data.behaviour),
    ...detailColumns(data.details),
    enabled: data.enabled,
    enabled_by: event.actor,
    enabled_reason: null,
    admin_paused: false,
    admin_paused_by: null,
    admin_paused_reason: null,
    created_at: event.time,
    updated_at: event.time,
    position: event.position,
  };
  return { row, links: linked(event, data.behaviour.tools, []) };
}

/** Links in the author's order; one that was there keeps its time. */
function linked(event: AgentRecorded, tools: readonly string[], before: readonly LinkRecord[]): LinkRecord[] {
  const since = new Map(before.map((link) => [link.tool, link.created_at]));
  return tools.map((tool, place) => ({
    org_id: event.org,
    agent_id: event.id,
    tool,
    place,
    created_at: since.get(tool) ?? event.time,
  }));
}

/** The version that an event made, if it made one. `owner` is the agent's at that time. */
export function versionOf(event: AgentRecorded, owner: string | undefined): VersionRecord | null {
  if (event.type !== 'AgentCreated' && event.type !== 'AgentRevised') return null;
  const ownerId = event.type === 'AgentCreated' ? event.data.ownerId : owner;
  if (ownerId === undefined) return null;
  const { version, behaviour } = event.data;
  const chosen = { ...behaviourColumns(behaviour), tools: behaviour.tools };
  return {
    org_id: event.org,
    agent_id: event.id,
    agent_version: version,
    owner_id: ownerId,
    ...chosen,
    created_at: event.time,
    created_by: event.actor,
  };
}
