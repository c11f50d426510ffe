import { Controller } from '@nestjs/common';
import { addRuleSchema, evaluateCallSchema, listRulesSchema, ruleRefSchema } from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { PEOPLE } from './access';
import { evaluationRow, ruleRow } from './approval-rows';
import { changeRow, pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'permission rules';

/** The rules by which calls are decided: passed on to the approvals service. */
@Controller()
export class PermissionRulesController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/permission-rules',
    name: 'permissions.list',
    tag,
    summary: 'List permission rules, newest first',
    access: PEOPLE,
    input: listRulesSchema,
    success: [{ status: 200, description: 'A page', body: pageOf('PermissionRulePage', ruleRow) }],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'permissions.list');
  }

  @Route({
    method: 'POST',
    path: '/v1/permission-rules',
    name: 'permissions.add',
    tag,
    summary: 'Add a permission rule',
    description:
      'The most specific rule that matches a call decides it; among equals deny beats ask beats allow. A rule that could match nothing is refused. Admins make any rule, reviewers those for agents and owners, owners those that deny for their own agents.',
    access: PEOPLE,
    input: addRuleSchema,
    success: [{ status: 201, description: 'The rule', body: ruleRow }],
    problems: ['conflict'],
    idempotency: 'replayed',
  })
  async add(@FromRequest() call: Call): Promise<Answer> {
    const row = await this.services.approvals<{ rule_id: string }>(call, 'permissions.add');
    return new Answer(row, { headers: { location: `/v1/permission-rules/${row.rule_id}` } });
  }

  @Route({
    method: 'POST',
    path: '/v1/permission-rules/evaluate',
    name: 'permissions.evaluate',
    tag,
    summary: 'Ask what would decide a call, and why',
    description:
      'Changes nothing and records nothing. Every rule is listed with why it did or did not decide.',
    access: PEOPLE,
    input: evaluateCallSchema,
    success: [{ status: 200, description: 'The decision and its reasons', body: evaluationRow }],
  })
  evaluate(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'permissions.evaluate');
  }

  @Route({
    method: 'GET',
    path: '/v1/permission-rules/:rule_id',
    name: 'permissions.get',
    tag,
    summary: 'Read a permission rule; removed ones stay readable',
    access: PEOPLE,
    input: ruleRefSchema,
    success: [{ status: 200, description: 'The rule', body: ruleRow }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'permissions.get');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/permission-rules/:rule_id',
    name: 'permissions.remove',
    tag,
    summary: 'Remove a permission rule',
    access: PEOPLE,
    input: ruleRefSchema.omit({ at_least: true }),
    success: [{ status: 200, description: 'The rule is gone', body: changeRow }],
  })
  remove(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'permissions.remove');
  }
}
