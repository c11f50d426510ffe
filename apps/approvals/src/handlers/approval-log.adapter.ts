import { APPROVAL_EVENTS, PERMISSION_EVENTS, RULES_ID, subjectOf } from '@runyard/contracts';
import type { Actor, ApprovalEvent, PermissionEvent, Policy } from '@runyard/contracts';
import { foldCache, handle, load } from '@runyard/event-log';
import type { Aggregate, CommitMeta, EventLog, FoldCache, Handled } from '@runyard/event-log';
import { NO_APPROVAL, evolveApproval } from '../domain/approval';
import type { Approval } from '../domain/approval';
import { decideApproval } from '../domain/approval-decisions';
import type { ApprovalCommand } from '../domain/approval-decisions';
import { NO_PERMISSIONS, decidePermissions, evolvePermissions } from '../domain/permissions';
import type { Permissions, PermissionsCommand } from '../domain/permissions';

/** Source of every event of this service. */
export const SOURCE = 'approvals';
/** Actor of what the service does by itself. */
export const SYSTEM: Actor = `system:${SOURCE}`;

const APPROVAL = { initial: NO_APPROVAL, evolve: evolveApproval, decide: decideApproval };
const PERMISSIONS = { initial: NO_PERMISSIONS, evolve: evolvePermissions, decide: decidePermissions };

/** What is decided about approvals and rules, on the log: of any number of deciders exactly one is first. */
export class ApprovalLog {
  private readonly approvals: FoldCache<Approval> = foldCache();
  private readonly policies: FoldCache<Permissions> = foldCache();

  constructor(private readonly log: Pick<EventLog, 'append' | 'read'>) {}

  decide(
    org: string,
    approvalId: string,
    command: ApprovalCommand,
    meta: CommitMeta,
  ): Promise<Handled<Approval, ApprovalEvent>> {
    return handle(this.log, this.approval(org, approvalId), command, meta);
  }

  /** In the service's own name, or in that of whoever caused it; `cause` is the position of the event that it reacts to. */
  react(
    org: string,
    approvalId: string,
    command: ApprovalCommand,
    cause: string,
    actor: Actor = SYSTEM,
  ): Promise<Handled<Approval, ApprovalEvent>> {
    return this.decide(org, approvalId, command, { actor, source: SOURCE, causationId: cause });
  }

  async read(org: string, approvalId: string): Promise<Approval> {
    return (await load(this.log, this.approval(org, approvalId))).state;
  }

  change(
    org: string,
    command: PermissionsCommand,
    meta: CommitMeta,
  ): Promise<Handled<Permissions, PermissionEvent>> {
    return handle(this.log, this.rules(org), command, meta);
  }

  async policy(org: string): Promise<Policy> {
    return (await load(this.log, this.rules(org))).state;
  }

  private approval(org: string, id: string): Aggregate<Approval, ApprovalCommand, ApprovalEvent> {
    const subject = subjectOf('approvals', org, id);
    return {
      subject,
      context: 'approvals',
      decider: APPROVAL,
      isKnown: APPROVAL_EVENTS,
      cache: this.approvals,
    };
  }

  private rules(org: string): Aggregate<Permissions, PermissionsCommand, PermissionEvent> {
    const subject = subjectOf('permissions', org, RULES_ID);
    return {
      subject,
      context: 'permissions',
      decider: PERMISSIONS,
      isKnown: PERMISSION_EVENTS,
      cache: this.policies,
    };
  }
}
