import { Inject, Injectable } from '@nestjs/common';
import {
  Problem,
  approvalRefSchema,
  argumentChanges,
  decideApprovalSchema,
  listApprovalsSchema,
  parseWith,
} from '@runyard/contracts';
import type { ApprovalRow, Caller, Json, StoredText } from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { DATABASE, RpcMethod } from '@runyard/service';
import { requireSight, seesAll } from '../domain/rights';
import { ApprovalQueries } from '../projections/approval.queries';
import type { Page } from '../projections/approval.queries';
import { RuleQueries } from '../projections/rule.queries';
import { askerOf, reached } from './asker';
import { Decisions } from './decide.process';
import { Runs } from './runs.adapter';

/** RPC `approvals.*`: what runs ask people, and what people answer. */
@Injectable()
export class ApprovalsController {
  constructor(
    @Inject(ApprovalQueries) private readonly rows: ApprovalQueries,
    @Inject(RuleQueries) private readonly rules: RuleQueries,
    @Inject(Runs) private readonly runs: Runs,
    @Inject(Decisions) private readonly decisions: Decisions,
    @Inject(DATABASE) private readonly db: Database,
  ) {}

  /** Members get what their own agents ask. */
  @RpcMethod('approvals.list')
  async list(caller: Caller, body: unknown): Promise<Page<ApprovalRow>> {
    const { at_least: atLeast, ...filter } = parseWith(listApprovalsSchema, body);
    await reached(this.db, 'approvals', atLeast);
    const ownerId = seesAll(askerOf(caller)) ? null : caller.userId;
    if (ownerId === null && !seesAll(askerOf(caller)))
      throw new Problem('forbidden', 'The credential stands for nobody who owns agents');
    return this.rows.list(caller.org, { ...filter, ownerId });
  }

  /** With everything that a decision needs: the run and its last steps, the rule that asked, the tool, the changes made. */
  @RpcMethod('approvals.get')
  async get(caller: Caller, body: unknown): Promise<object> {
    const { approval_id: id, at_least: atLeast } = parseWith(approvalRefSchema, body);
    await reached(this.db, 'approvals', atLeast);
    const { org } = caller;
    const row = await this.rows.find(org, id);
    if (!row) throw new Problem('not_found', 'There is no such approval');
    requireSight(askerOf(caller), row.owner_id, 'The approval');
    const [context, tool, rule, proposed, edited] = await Promise.all([
      this.runs.context(org, row.run_id),
      this.runs.tool(org, row.run_id, row.tool),
      row.rule_id === null ? null : this.rules.find(org, row.rule_id),
      this.whole(org, row.arguments),
      row.edited_arguments && this.whole(org, row.edited_arguments),
    ]);
    return {
      ...row,
      arguments: proposed,
      edited_arguments: edited,
      changes: changesOf(proposed, edited),
      run: context?.run ?? null,
      last_steps: context?.steps ?? [],
      rule: rule ?? null,
      tool_definition: tool
        ? {
            name: tool.name,
            description: tool.description,
            effect: tool.effect,
            input_schema: tool.inputSchema,
          }
        : null,
    };
  }

  /** Throws `approval_decided` with the first decision, `approval_expired`, `approval_withdrawn`. */
  @RpcMethod('approvals.decide')
  async decide(caller: Caller, body: unknown): Promise<object> {
    const input = parseWith(decideApprovalSchema, body);
    const { state, position } = await this.decisions.decide(caller, input);
    if (state.situation !== 'decided') throw new Problem('internal', 'The decision was not taken');
    const { question, settled } = state;
    return {
      approval_id: input.approval_id,
      run_id: question.runId,
      call_id: question.callId,
      verdict: settled.verdict,
      decided_by: settled.decidedBy,
      decided_at: new Date(settled.decidedAt).toISOString(),
      arguments_digest: settled.argumentsDigest,
      edited: settled.argumentsDigest !== question.argumentsDigest,
      whole_group: settled.wholeGroup,
      made_rule_id: settled.ruleId,
      position,
    };
  }

  private async whole(org: string, stored: StoredText): Promise<StoredText> {
    const text = await this.runs.whole(org, stored);
    return text === undefined ? stored : { text };
  }
}

/** What a reviewer changed; null: nothing, or too large to be compared here. */
function changesOf(proposed: StoredText, edited: StoredText | null): object[] | null {
  if (!edited || !('text' in edited) || !('text' in proposed)) return null;
  try {
    return argumentChanges(JSON.parse(proposed.text) as Json, JSON.parse(edited.text) as Json);
  } catch {
    return null;
  }
}
