import { PERMISSION_EVENTS, parseSubject } from '@runyard/contracts';
import type { PermissionEvent } from '@runyard/contracts';
import { eventsOf } from '@runyard/persistence';
import type { ProjectedEvent, Projection } from '@runyard/persistence';
import { RowChanges, isOrg } from './rows';

interface Stored {
  rule_id: string;
  removed_at: string | null;
  removed_by: string | null;
  position: string;
  [fixed: string]: unknown;
}

/** Permission rules; removed ones stay, since what they decided names them. */
export const RULES: Projection = {
  name: 'permission-rules',
  version: 1,
  stream: 'APPROVALS',
  async apply(tx, commits) {
    const erased: string[] = [];
    const changes = new RowChanges<Stored>('permission_rules', 'rule_id', [
      'removed_at',
      'removed_by',
      'position',
    ]);
    for (const commit of commits) {
      const place = parseSubject(commit.subject);
      if (place?.context !== 'permissions' || !isOrg(place.org)) continue;
      for (const one of eventsOf<PermissionEvent>(commit, PERMISSION_EVENTS)) {
        if (one.event.type === 'RulesErased') erased.push(...one.event.data.ruleIds);
        else apply(changes, place.org, one, one.event);
      }
    }
    await changes.save(tx);
    if (erased.length > 0) await tx.query('DELETE FROM permission_rules WHERE rule_id = ANY($1)', [erased]);
  },
};

function apply(
  changes: RowChanges<Stored>,
  org: string,
  { sequence, index }: ProjectedEvent<PermissionEvent>,
  event: Exclude<PermissionEvent, { type: 'RulesErased' }>,
): void {
  const position = `${sequence}.${index}`;
  const at = new Date(event.time).toISOString();
  if (event.type === 'RuleRemoved')
    return changes.update(event.data.ruleId, { removed_at: at, removed_by: event.actor, position });
  const { rule } = event.data;
  changes.insert(rule.ruleId, {
    rule_id: rule.ruleId,
    org_id: org,
    scope: rule.scope.kind,
    owner_id: rule.scope.kind === 'owner' ? rule.scope.ownerId : null,
    agent_id: rule.scope.kind === 'agent' ? rule.scope.agentId : null,
    tool: rule.tool,
    conditions: rule.conditions,
    decision: rule.decision,
    group_key: rule.groupKey,
    expires_at: rule.expiresAt === null ? null : new Date(rule.expiresAt).toISOString(),
    note: rule.note,
    approval_id: rule.approvalId,
    author: event.actor,
    created_at: at,
    removed_at: null,
    removed_by: null,
    position,
  });
}
