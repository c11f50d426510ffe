import type { AgentEvent } from '@runyard/contracts';
import type { LinesOf } from './activity-lines';

/** Changes of agents, and their switches and locks. */
export const AGENT_LINES: LinesOf<AgentEvent> = {
  AgentCreated: ({ data }) => ({
    topic: 'agents',
    kind: 'agent.created',
    summary: `created the agent, version ${data.version}`,
    facts: { owner_id: data.ownerId },
  }),
  AgentRevised: ({ data }) => ({
    topic: 'agents',
    kind: 'agent.revised',
    summary: `changed what the agent does: version ${data.version}`,
  }),
  AgentEdited: () => ({ topic: 'agents', kind: 'agent.edited', summary: "changed the agent's details" }),
  AgentEnabled: () => ({ topic: 'agents', kind: 'agent.enabled', summary: 'switched the agent on' }),
  AgentDisabled: () => ({ topic: 'agents', kind: 'agent.disabled', summary: 'switched the agent off' }),
  AgentLocked: () => ({ topic: 'locks', kind: 'agent.locked', summary: 'locked the agent' }),
  AgentUnlocked: () => ({
    topic: 'locks',
    kind: 'agent.unlocked',
    summary: 'released the lock of the agent',
  }),
  AgentModelCleared: ({ data }) => ({
    topic: 'agents',
    kind: 'agent.model_cleared',
    summary: `took the model ${data.modelId} from the agent`,
  }),
  AgentToolUnlinked: ({ data }) => ({
    topic: 'agents',
    kind: 'agent.tool_unlinked',
    summary: `took the tool ${data.tool} from the agent`,
  }),
  AgentDeleted: ({ data }) => ({
    topic: 'agents',
    kind: 'agent.deleted',
    summary: `deleted the agent${data.history === 'purge' ? ' and its runs' : '; its runs are kept'}`,
  }),
};
