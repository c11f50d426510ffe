import type { AgentDetails, NewEvent } from '@runyard/contracts';

/** Spec-only. What the logs of agents, people and runs say, as far as a scheduler listens to it. */

const BEHAVIOUR = {
  prompt: 'Help.',
  modelId: 'fast',
  tools: [],
  bounds: {},
  approvalPolicy: 'park',
  mode: 'ask',
} as const;
const DETAILS: AgentDetails = {
  name: 'A',
  description: '',
  concurrency: 'agent',
  overlap: 'skip',
  schedule: null,
  meta: {},
};

export const organizationCreated: NewEvent = {
  type: 'OrganizationCreated',
  data: { name: 'Org', timeZone: 'Europe/Berlin' },
};

export const userAdded = (userId: string): NewEvent => ({
  type: 'UserAdded',
  data: { userId, email: 'a@example.org', name: 'Ada', timeZone: null, roles: ['member'] },
});

export const agentCreated = (ownerId: string, details: Partial<AgentDetails>): NewEvent => ({
  type: 'AgentCreated',
  data: {
    ownerId,
    version: 1,
    behaviour: BEHAVIOUR,
    details: { ...DETAILS, ...details },
    enabled: true,
  },
});

export const agentEdited = (details: Partial<AgentDetails>): NewEvent => ({
  type: 'AgentEdited',
  data: { details: { ...DETAILS, ...details } },
});

/** An event of an agent that says little more than its type: `AgentDisabled`, `AgentDeleted` and the like. */
export const agentTold = (type: string): NewEvent => ({
  type,
  data: type === 'AgentDeleted' ? { history: 'keep' } : { reason: null },
});

export const runQueued = (agentId: string, slot: string): NewEvent => ({
  type: 'RunQueued',
  data: { agentId, slot },
});

export const runSucceeded: NewEvent = { type: 'RunSucceeded', data: { output: { text: 'done' } } };
