import { AGENT_EVENTS, parseSubject } from '@runyard/contracts';
import type { AgentEvent, Json } from '@runyard/contracts';
import { RowChanges, eventsOf, isOrg } from '@runyard/persistence';
import type { ProjectedCommit, ProjectedEvent, Projection, RowTable } from '@runyard/persistence';

/** A row of `scheduled_agents`; times are RFC 3339. */
export interface ScheduledAgent {
  org_id: string;
  agent_id: string;
  owner_id: string;
  schedule: Json;
  scheduled_at: string;
  overlap: string;
  catch_up: string;
  concurrency: string;
  enabled: boolean;
  locked: boolean;
  has_model: boolean;
  opened_at: string;
  position: string;
}

const TABLE: RowTable<ScheduledAgent> = {
  name: 'scheduled_agents',
  key: ['org_id', 'agent_id'],
  columns: [
    'owner_id',
    'schedule',
    'scheduled_at',
    'overlap',
    'catch_up',
    'concurrency',
    'enabled',
    'locked',
    'has_model',
    'opened_at',
    'position',
  ],
};

/** What slots depend on, of every agent. */
export const SCHEDULED_AGENTS: Projection = {
  name: 'scheduler-agents',
  version: 1,
  stream: 'AGENTS',
  async apply(tx, commits) {
    const events = commits.filter(isAgents).flatMap((commit) => eventsOf<AgentEvent>(commit, AGENT_EVENTS));
    const keyOf = ({ org, aggregate }: ProjectedEvent<AgentEvent>) => ({ org_id: org, agent_id: aggregate });
    const rows = await RowChanges.load(tx, TABLE, events.map(keyOf));
    for (const event of events) {
      const after = agentAfter(rows.get(keyOf(event)), event);
      if (after) rows.set(after);
      else rows.delete(keyOf(event));
    }
    await rows.save(tx);
  },
};

function isAgents({ subject }: ProjectedCommit): boolean {
  const parts = parseSubject(subject);
  return parts?.context === 'agents' && isOrg(parts.org);
}

const isOpen = (row: ScheduledAgent): boolean => row.enabled && !row.locked && row.has_model;

/** The row after an event; undefined: the agent is gone, or was never there. */
function agentAfter(
  row: ScheduledAgent | undefined,
  projected: ProjectedEvent<AgentEvent>,
): ScheduledAgent | undefined {
  const { event, org, aggregate, sequence, index } = projected;
  const time = new Date(event.time).toISOString();
  const position = `${sequence}.${index}`;
  if (event.type === 'AgentCreated') {
    const { ownerId, behaviour, details, enabled } = event.data;
    const { schedule, overlap, concurrency, catchUp = 'latest' } = details;
    const facts = {
      schedule,
      overlap,
      catch_up: catchUp,
      concurrency,
      enabled,
      locked: false,
      has_model: behaviour.modelId !== null,
    };
    return {
      org_id: org,
      agent_id: aggregate,
      owner_id: ownerId,
      scheduled_at: time,
      opened_at: time,
      position,
      ...facts,
    };
  }
  if (!row) return undefined;
  const after = changed(row, event, time);
  if (!after) return undefined;
  const opened = isOpen(after) && !isOpen(row);
  return { ...after, opened_at: opened ? time : row.opened_at, position };
}

function changed(row: ScheduledAgent, event: AgentEvent, time: string): ScheduledAgent | undefined {
  switch (event.type) {
    case 'AgentEdited': {
      const { schedule, overlap, concurrency, catchUp = 'latest' } = event.data.details;
      const same = canonical(schedule) === canonical(row.schedule);
      const chosen = { schedule, overlap, concurrency, catch_up: catchUp };
      return { ...row, ...chosen, scheduled_at: same ? row.scheduled_at : time };
    }
    case 'AgentRevised':
      return { ...row, has_model: event.data.behaviour.modelId !== null };
    case 'AgentModelCleared':
      return { ...row, has_model: false };
    case 'AgentEnabled':
    case 'AgentDisabled':
      return { ...row, enabled: event.type === 'AgentEnabled' };
    case 'AgentLocked':
    case 'AgentUnlocked':
      return { ...row, locked: event.type === 'AgentLocked' };
    case 'AgentDeleted':
      return undefined;
    default:
      return row;
  }
}

/** jsonb gives members back in an order of its own. Schedules are flat. */
const canonical = (schedule: Json): string =>
  JSON.stringify(
    typeof schedule === 'object' && schedule !== null
      ? Object.entries(schedule).sort(([a], [b]) => (a < b ? -1 : 1))
      : schedule,
  );
