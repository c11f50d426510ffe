import type { Agent } from './agent';
import type { AgentReaction } from './agent-commands';
import type { AgentDecision } from './decision';

/** Effects of what happened elsewhere. Never refused: an agent that it does not concern any more gives no events. */
export function react(agent: Agent, command: AgentReaction): AgentDecision[] {
  if (agent.situation !== 'active') return [];
  switch (command.type) {
    case 'ClearModel': {
      const { modelId, row } = command;
      const concerned =
        agent.behaviour.modelId === modelId && agent.modelRow !== null && agent.modelRow <= row;
      return concerned ? [{ type: 'AgentModelCleared', data: { modelId } }] : [];
    }
    case 'UnlinkTool': {
      const linked = agent.toolRows[command.tool];
      return linked !== undefined && linked <= command.row
        ? [{ type: 'AgentToolUnlinked', data: { tool: command.tool } }]
        : [];
    }
    case 'DisableForOwner': {
      const concerned =
        agent.ownerId === command.ownerId &&
        agent.enabled.on &&
        agent.ownerDeactivations < command.deactivation;
      return concerned ? [{ type: 'AgentDisabled', data: { reason: 'the owner was deactivated' } }] : [];
    }
    case 'DeleteForOwner':
      return agent.ownerId === command.ownerId ? [{ type: 'AgentDeleted', data: { history: 'keep' } }] : [];
    default:
      return command satisfies never;
  }
}
