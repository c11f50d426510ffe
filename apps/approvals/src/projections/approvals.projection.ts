import { APPROVAL_EVENTS, parseSubject } from '@runyard/contracts';
import type { ApprovalEvent, ApprovalState, ApprovalVerdict } from '@runyard/contracts';
import { eventsOf } from '@runyard/persistence';
import type { ProjectedEvent, Projection } from '@runyard/persistence';
import { RowChanges, isOrg } from './rows';

/** A row as the table has it. */
interface Stored {
  approval_id: string;
  state: ApprovalState;
  decided_at: string | null;
  decided_by: string | null;
  verdict: string | null;
  edited_arguments: object | null;
  message: object | null;
  whole_group: boolean;
  made_rule_id: string | null;
  group_of: string | null;
  withdrawn_because: string | null;
  position: string;
  [fixed: string]: unknown;
}

const OPEN = {
  state: 'pending',
  decided_at: null,
  decided_by: null,
  verdict: null,
  edited_arguments: null,
  message: null,
  whole_group: false,
  made_rule_id: null,
  group_of: null,
  withdrawn_because: null,
} as const;

const CHANGING = [...Object.keys(OPEN), 'position'];

/** In readers' words. */
const STATES: Readonly<Record<ApprovalVerdict, ApprovalState>> = {
  approve: 'approved',
  deny: 'denied',
  done: 'answered',
  repeat: 'answered',
  fail: 'answered',
};

/** Questions and their answers. */
export const APPROVALS: Projection = {
  name: 'approvals',
  version: 1,
  stream: 'APPROVALS',
  async apply(tx, commits) {
    const changes = new RowChanges<Stored>('approvals', 'approval_id', CHANGING);
    for (const commit of commits) {
      const place = parseSubject(commit.subject);
      if (place?.context !== 'approvals' || !isOrg(place.org)) continue;
      for (const one of eventsOf<ApprovalEvent>(commit, APPROVAL_EVENTS)) apply(changes, place, one);
    }
    await changes.save(tx);
  },
};

function apply(
  changes: RowChanges<Stored>,
  { org, id }: { org: string; id: string },
  { event, sequence, index }: ProjectedEvent<ApprovalEvent>,
): void {
  const position = `${sequence}.${index}`;
  const at = new Date(event.time).toISOString();
  if (event.type === 'ApprovalOpened') {
    const { data } = event;
    changes.insert(id, {
      approval_id: id,
      org_id: org,
      kind: data.kind,
      run_id: data.runId,
      agent_id: data.agentId,
      agent_version: data.agentVersion,
      owner_id: data.ownerId,
      step: data.step,
      call_id: data.callId,
      tool: data.tool,
      arguments: data.arguments,
      arguments_digest: data.argumentsDigest,
      rule_id: data.ruleId,
      group_key: data.groupKey,
      policy_version: data.policyVersion,
      opened_at: at,
      expires_at: new Date(data.expiresAt).toISOString(),
      ...OPEN,
      position,
    });
    return;
  }
  changes.update(id, { ...OPEN, ...closing(event), decided_at: at, decided_by: event.actor, position });
}

function closing(event: Exclude<ApprovalEvent, { type: 'ApprovalOpened' }>): Partial<Stored> {
  switch (event.type) {
    case 'ApprovalDecided': {
      const { verdict, arguments: edited, message, wholeGroup, ruleId, groupOf } = event.data;
      return {
        state: STATES[verdict],
        verdict,
        edited_arguments: edited,
        message,
        whole_group: wholeGroup,
        made_rule_id: ruleId,
        group_of: groupOf ?? null,
      };
    }
    case 'ApprovalExpired':
      return { state: 'expired' };
    case 'ApprovalWithdrawn':
      return { state: 'withdrawn', withdrawn_because: event.data.reason };
    default:
      return event satisfies never;
  }
}
