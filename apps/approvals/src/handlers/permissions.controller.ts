import { Inject, Injectable } from '@nestjs/common';
import {
  CORE_TOOLS,
  Problem,
  addRuleSchema,
  decideCall,
  evaluateCallSchema,
  listRulesSchema,
  parseWith,
  ruleRefSchema,
  isoTime,
} from '@runyard/contracts';
import type {
  AddRuleInput,
  Caller,
  EvaluationRow,
  PermissionRule,
  RuleRow,
  StandingRule,
} from '@runyard/contracts';
import type { Database } from '@runyard/persistence';
import { derivedId } from '@runyard/event-log';
import { DATABASE, RpcMethod, commitMeta, currentContext } from '@runyard/service';
import { requireSight } from '../domain/rights';
import { RuleQueries } from '../projections/rule.queries';
import type { KnownRule, Page } from '../projections/rule.queries';
import { APPROVALS_CLOCK } from '../types';
import { ApprovalLog, SOURCE } from './approval-log.adapter';
import { askerOf, reached } from './asker';
import { RegistryFacts } from './registry.adapter';

/** RPC `permissions.*`: the rules by which calls are decided. */
@Injectable()
export class PermissionsController {
  constructor(
    @Inject(ApprovalLog) private readonly approvals: ApprovalLog,
    @Inject(RegistryFacts) private readonly registry: RegistryFacts,
    @Inject(RuleQueries) private readonly rules: RuleQueries,
    @Inject(DATABASE) private readonly db: Database,
    @Inject(APPROVALS_CLOCK) private readonly now: () => number,
  ) {}

  /** Throws `invalid_request` for a rule that could match nothing, `forbidden` for one that its author may not make. */
  @RpcMethod('permissions.add')
  async add(caller: Caller, body: unknown): Promise<RuleRow> {
    const input = parseWith(addRuleSchema, body);
    const { org } = caller;
    // The same request, sent again because its answer was lost, names the same rule.
    const ruleId = derivedId(
      'rul',
      org,
      caller.actor,
      currentContext()?.requestId ?? '',
      JSON.stringify(input),
    );
    const rule = { ...ruleOf(input), ruleId };
    const ownerId = await this.ownerOf(org, rule.scope);
    const now = this.now();
    const tools = await this.registry.tools(org);
    const known = [...CORE_TOOLS, ...tools];
    const command = { type: 'AddRule', asker: askerOf(caller), rule, ownerId, now, tools: known } as const;
    const { state, position } = await this.approvals.change(org, command, commitMeta(caller, SOURCE));
    const added = state.rules.find((one) => one.ruleId === ruleId);
    if (!added) throw new Problem('conflict', 'The rule was removed meanwhile');
    return rowOf(added, position);
  }

  @RpcMethod('permissions.remove')
  async remove(caller: Caller, body: unknown): Promise<{ rule_id: string; removed: true; position: string }> {
    const { rule_id: ruleId } = parseWith(ruleRefSchema, body);
    const { org } = caller;
    const rule = (await this.approvals.policy(org)).rules.find((one) => one.ruleId === ruleId);
    const agent = rule?.scope.kind === 'agent' ? await this.registry.agent(org, rule.scope.agentId) : null;
    const command = {
      type: 'RemoveRule',
      asker: askerOf(caller),
      ruleId,
      ownerOfAgent: agent?.ownerId ?? null,
    } as const;
    const { position } = await this.approvals.change(org, command, commitMeta(caller, SOURCE));
    return { rule_id: ruleId, removed: true, position };
  }

  @RpcMethod('permissions.list')
  async list(caller: Caller, body: unknown): Promise<Page<RuleRow>> {
    const { at_least: atLeast, ...filter } = parseWith(listRulesSchema, body);
    await reached(this.db, 'permission-rules', atLeast);
    return this.rules.list(caller.org, filter);
  }

  @RpcMethod('permissions.get')
  async get(caller: Caller, body: unknown): Promise<KnownRule> {
    const { rule_id: ruleId, at_least: atLeast } = parseWith(ruleRefSchema, body);
    await reached(this.db, 'permission-rules', atLeast);
    const rule = await this.rules.find(caller.org, ruleId);
    if (!rule) throw new Problem('not_found', 'There is no such rule');
    return rule;
  }

  /** What would decide this call, and why. Records nothing. */
  @RpcMethod('permissions.evaluate')
  async evaluate(caller: Caller, body: unknown): Promise<EvaluationRow> {
    const input = parseWith(evaluateCallSchema, body);
    const { org } = caller;
    const agent = await this.registry.agent(org, input.agent_id);
    if (!agent) throw new Problem('not_found', 'There is no such agent');
    requireSight(askerOf(caller), agent.ownerId, 'The agent');
    const mode = input.mode ?? agent.mode;
    const effect = input.effect ?? (await this.effectOf(org, input.tool));
    const { agent_id: agentId, tool, arguments: given } = input;
    const call = { agentId, ownerId: agent.ownerId, tool, effect, arguments: given, mode, now: this.now() };
    const found = decideCall(await this.approvals.policy(org), call);
    return {
      decision: found.decision,
      decided_by: found.decidedBy,
      rule_id: found.ruleId,
      group_key: found.groupKey,
      policy_version: found.policyVersion,
      mode,
      effect,
      reason: found.reason,
      considered: found.considered.map(({ ruleId, ...rest }) => ({ rule_id: ruleId, ...rest })),
    };
  }

  private async effectOf(org: string, name: string): Promise<'read' | 'write'> {
    const known = [...CORE_TOOLS, ...(await this.registry.tools(org))];
    const tool = known.find((one) => one.name === name);
    if (tool) return tool.effect;
    const detail = 'must be given: the catalogue has no such tool, so whether it writes is not known';
    throw new Problem('invalid_request', `The request is not valid: /effect ${detail}`, {
      errors: [{ pointer: '/effect', detail }],
    });
  }

  /** Whose agents a rule is for. Throws `not_found` for an agent that is not there. */
  private async ownerOf(org: string, scope: PermissionRule['scope']): Promise<string | null> {
    if (scope.kind !== 'agent') return scope.kind === 'owner' ? scope.ownerId : null;
    const agent = await this.registry.agent(org, scope.agentId);
    if (!agent)
      throw new Problem('not_found', `There is no agent ${scope.agentId}; the rule would match nothing`);
    return agent.ownerId;
  }
}

function ruleOf(input: AddRuleInput): Omit<PermissionRule, 'ruleId'> {
  const { scope } = input;
  const scopes = {
    org: () => ({ kind: 'org' }) as const,
    owner: () => ({ kind: 'owner', ownerId: 'owner_id' in scope ? scope.owner_id : '' }) as const,
    agent: () => ({ kind: 'agent', agentId: 'agent_id' in scope ? scope.agent_id : '' }) as const,
  };
  return {
    scope: scopes[scope.kind](),
    tool: input.tool,
    conditions: input.conditions,
    decision: input.decision,
    groupKey: input.group_key,
    expiresAt: input.expires_at === null ? null : Date.parse(input.expires_at),
    note: input.note,
    approvalId: null,
  };
}

/** A rule as it was just decided: the rows may not have it yet. */
function rowOf(rule: StandingRule, position: string): RuleRow {
  const { scope } = rule;
  const scopes = {
    org: { kind: 'org' },
    owner: { kind: 'owner', owner_id: 'ownerId' in scope ? scope.ownerId : '' },
    agent: { kind: 'agent', agent_id: 'agentId' in scope ? scope.agentId : '' },
  } as const;
  return {
    rule_id: rule.ruleId,
    scope: scopes[scope.kind],
    tool: rule.tool,
    conditions: rule.conditions,
    decision: rule.decision,
    group_key: rule.groupKey,
    expires_at: rule.expiresAt === null ? null : isoTime(rule.expiresAt),
    note: rule.note,
    approval_id: rule.approvalId,
    author: rule.author,
    created_at: isoTime(rule.addedAt),
    position,
  };
}
