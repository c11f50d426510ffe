import type { StartCondition } from './agent.requests';

export interface StartFacts {
  enabled: boolean;
  enabledReason: string | null;
  locked: boolean;
  lockedReason: string | null;
  modelId: string | null;
  ownerActive: boolean;
}

/** The closed ones of the four static conditions (domain, section 2), each with what to do about it. Empty: it can start. */
export function startConditions(facts: StartFacts): { code: StartCondition; reason: string }[] {
  const because = (reason: string | null) => (reason ? ` (${reason})` : '');
  const closed: { code: StartCondition; reason: string }[] = [];
  if (!facts.enabled)
    closed.push({
      code: 'agent_disabled',
      reason: `Its owner has switched it off${because(facts.enabledReason)}; the owner can switch it on`,
    });
  if (facts.locked)
    closed.push({
      code: 'agent_locked',
      reason: `An admin has locked it${because(facts.lockedReason)}; an admin can release it`,
    });
  if (facts.modelId === null)
    closed.push({
      code: 'agent_without_model',
      reason: 'It has no model; its owner must choose one of the allowed models',
    });
  if (!facts.ownerActive)
    closed.push({ code: 'owner_inactive', reason: 'Its owner is deactivated; an admin can reactivate them' });
  return closed;
}
