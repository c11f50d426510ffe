import { Controller } from '@nestjs/common';
import { approvalRefSchema, decideApprovalSchema, listApprovalsSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { PEOPLE, REVIEWERS } from './access';
import { approvalContext, approvalRow, decisionRow } from './approval-rows';
import { pageOf } from './rows';
import { Services } from './services.adapter';

const tag = 'approvals';

/** What runs ask people: passed on to the approvals service. */
@Controller()
export class ApprovalsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/approvals',
    name: 'approvals.list',
    tag,
    summary: 'List approvals: what waits, or what became of it',
    description:
      'Pending ones come ranked: first those whose answer sets a run going, then the oldest. Every other state is history, newest first. Members get what their own agents ask.',
    access: PEOPLE,
    input: listApprovalsSchema,
    success: [{ status: 200, description: 'A page', body: pageOf('ApprovalPage', approvalRow) }],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'approvals.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/approvals/:approval_id',
    name: 'approvals.get',
    tag,
    summary: 'Read an approval with all that a decision needs',
    access: PEOPLE,
    input: approvalRefSchema,
    success: [
      {
        status: 200,
        description: 'The question, its run and last steps, the rule that asked, the tool, the changes',
        body: approvalContext,
      },
    ],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'approvals.get');
  }

  @Route({
    method: 'POST',
    path: '/v1/approvals/:approval_id/decision',
    name: 'approvals.decide',
    tag,
    summary: 'Decide an approval',
    description:
      'The first decision stands; whoever comes second is told it. The decider is the person behind the credential. Saying the same again changes nothing.',
    access: REVIEWERS,
    input: decideApprovalSchema,
    success: [{ status: 200, description: 'The decision', body: decisionRow }],
    problems: ['approval_decided', 'approval_expired', 'approval_withdrawn', 'rule_outranks_deny'],
    idempotency: 'replayed',
  })
  decide(@FromRequest() call: Call): Promise<unknown> {
    return this.services.approvals(call, 'approvals.decide');
  }
}
