import type { DefinitionSnapshot, RunIdentity, RunRequest } from '@runyard/contracts';
import type { AgentFacts } from '../domain/intake';

interface Newborn {
  runId: string;
  digest: string;
  request: RunRequest;
  agent: AgentFacts;
  definition: DefinitionSnapshot;
}

/** What a run is from its birth on. */
export function identityOf({ agent, request, runId, digest, definition }: Newborn): RunIdentity {
  return {
    agentId: agent.agentId,
    agentVersion: agent.version,
    ownerId: agent.ownerId,
    userId: agent.ownerId,
    requestedBy: request.requested_by,
    trigger: request.trigger,
    parentRunId: null,
    rootRunId: runId,
    depth: 0,
    conversationId: request.conversation_id ?? null,
    tier: definition.models[0]?.tier ?? '',
    requestDigest: digest,
  };
}
