import { Problem } from '@runyard/contracts';
import type { Caller, DecideApproval, Json, PermissionRule } from '@runyard/contracts';
import type { Handled } from '@runyard/event-log';
import type { Blobs } from '@runyard/persistence';
import { commitMeta } from '@runyard/service';
import type { ApprovalEvent } from '@runyard/contracts';
import type { Approval, Question } from '../domain/approval';
import { requireReviewer, requireRuleRight } from '../domain/rights';
import { SOURCE } from './approval-log.adapter';
import type { ApprovalLog } from './approval-log.adapter';
import { askerOf } from './asker';
import { editedArguments, storedText } from './edited-arguments';
import type { Edited } from './edited-arguments';
import { madeRule, requireEffective } from './made-rule';
import type { RegistryFacts } from './registry.adapter';
import type { Runs } from './runs.adapter';

interface Parts {
  approvals: ApprovalLog;
  runs: Runs;
  registry: RegistryFacts;
  blobs: Pick<Blobs, 'put'>;
  now: () => number;
}

/**
 * A reviewer's decision, from the wish to the log.
 *
 * Invariants:
 * 1. Who decides comes from the credential; whether it is in time, and whether somebody was first, is judged against the log in
 *    the same append.
 * 2. Edited arguments are checked and stored before they are decided about; the grant is for their digest.
 * 3. A run whose log has ended takes no decision, though its question may not be withdrawn yet.
 * 4. The rule that a decision makes is part of it; adding it at once is a convenience, the reaction does it in any case.
 */
export class Decisions {
  constructor(private readonly parts: Parts) {}

  async decide(caller: Caller, input: DecideApproval): Promise<Handled<Approval, ApprovalEvent>> {
    const { approvals, now } = this.parts;
    const { org } = caller;
    const id = input.approval_id;
    const approval = await approvals.read(org, id);
    if (approval.situation === 'absent') throw new Problem('not_found', 'There is no such approval');
    requireReviewer(askerOf(caller));
    const { question } = approval;
    if (approval.situation === 'pending') await this.requireLiving(org, id, question);
    const edited = await this.edited(org, question, input);
    const rule = approval.situation === 'pending' ? await this.rule(caller, question, input, edited) : null;
    const message =
      input.message === undefined ? null : await storedText(org, input.message, this.parts.blobs);
    const { verdict, whole_group: wholeGroup } = input;
    const command = {
      type: 'DecideApproval',
      asker: askerOf(caller),
      actor: caller.actor,
      now: now(),
      verdict,
      edited,
      message,
      wholeGroup,
      rule,
    } as const;
    const meta = commitMeta(caller, SOURCE);
    try {
      const handled = await approvals.decide(org, id, command, meta);
      if (rule && handled.events.length) await approvals.change(org, { type: 'KeepRule', rule }, meta);
      return handled;
    } catch (error) {
      if (error instanceof Problem && error.code === 'approval_expired')
        await approvals.react(org, id, { type: 'ExpireApproval', now: now() }, 'late decision');
      throw error;
    }
  }

  private async requireLiving(org: string, id: string, { runId }: Question): Promise<void> {
    if (!(await this.parts.runs.hasEnded(org, runId))) return;
    const command = { type: 'WithdrawApproval', reason: 'run_ended' } as const;
    await this.parts.approvals.react(org, id, command, 'late decision');
  }

  private async edited(org: string, question: Question, input: DecideApproval): Promise<Edited | null> {
    if (input.arguments === undefined) return null;
    const tool = await this.parts.runs.tool(org, question.runId, question.tool);
    return editedArguments(org, input.arguments as Json, tool, this.parts.blobs);
  }

  private async rule(
    caller: Caller,
    question: Question,
    input: DecideApproval,
    edited: Edited | null,
  ): Promise<PermissionRule | null> {
    if (!input.rule) return null;
    const { org } = caller;
    const tool = await this.parts.runs.tool(org, question.runId, question.tool);
    const given = edited ? (input.arguments as Json) : await this.proposed(org, question);
    const effect = tool?.effect ?? 'write';
    const asked = { approvalId: input.approval_id, question, effect, arguments: given };
    const rule = madeRule(asked, input.rule);
    const scopeOwner = rule.scope.kind === 'owner' ? rule.scope.ownerId : question.ownerId;
    requireRuleRight(askerOf(caller), rule.scope.kind, scopeOwner, 'allow');
    requireEffective(rule, asked, await this.parts.approvals.policy(org), this.parts.now());
    return rule;
  }

  /** What the call would send; the executor has parsed it before it asked. */
  private async proposed(org: string, question: Question): Promise<Json> {
    const text = await this.parts.runs.whole(org, question.arguments);
    if (text === undefined)
      throw new Problem(
        'invalid_request',
        'The arguments are too large to make a rule from; make it by itself',
      );
    return JSON.parse(text) as Json;
  }
}
