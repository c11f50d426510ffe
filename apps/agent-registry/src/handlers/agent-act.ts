import type { AgentRow, Caller } from '@runyard/contracts';
import { requireActive } from '../domain/agent';
import type { AgentCommand } from '../domain/agent-commands';
import { agentAnswer } from './agent-answer';
import type { RegistryLog } from './registry-log.adapter';
import { orgOf } from './requests';

/** Decides and appends in the caller's name, and answers with the agent as it then is. */
export async function agentAct(
  registry: RegistryLog,
  caller: Caller,
  id: string,
  command: AgentCommand,
): Promise<AgentRow> {
  const org = orgOf(caller);
  const { state, position } = await registry.act(registry.agent(org, id), command, caller);
  const agent = requireActive(state);
  const owner = await registry.owner(org, agent.ownerId);
  return agentAnswer(id, agent, owner.standing === 'active', position);
}
