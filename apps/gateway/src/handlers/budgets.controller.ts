import { Controller } from '@nestjs/common';
import {
  clearCapSchema,
  forecastSchema,
  listBudgetsSchema,
  listCapsSchema,
  ownerBudgetSchema,
  ownerCapRefSchema,
  setDefaultCapSchema,
  setOwnerCapSchema,
  spendQuerySchema,
} from '@runyard/contracts';
import { z } from 'zod';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ADMINS, ANYBODY } from './access';
import { budgetPage, budgetRow, capPage, capRow, forecastList, spendReport } from './budget-rows';
import { Services } from './services.adapter';

const tag = 'budgets';
const cap = { status: 200, description: 'The cap as it is now', body: capRow } as const;
const OWN = 'Members see their own.';
const THEN =
  '`as_of`: a position in the log or a time; the week that was running then, as it stood, with the cap that held.';
const NEXT = 'Holds for the runs that start after it; what is reserved stays reserved.';

/** Weekly caps, how they are used up, and what was spent: passed on to the budget ledger. */
@Controller()
export class BudgetsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/budgets',
    name: 'budgets.list',
    tag,
    summary: 'List how the running weeks of owners stand, or those of a given week',
    description: `${THEN} ${OWN}`,
    access: ANYBODY,
    input: listBudgetsSchema,
    success: [{ status: 200, description: 'A page of budgets', body: budgetPage }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/budgets/:owner_id',
    name: 'budgets.get',
    tag,
    summary: 'Read how an owner’s running week stands, or an earlier one',
    description: THEN,
    access: ANYBODY,
    input: ownerBudgetSchema,
    success: [{ status: 200, description: 'The budget', body: budgetRow }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.get');
  }

  @Route({
    method: 'GET',
    path: '/v1/budget-caps',
    name: 'budgets.list_caps',
    tag,
    summary: 'List the default cap and the owners that have one of their own',
    access: ANYBODY,
    input: listCapsSchema,
    success: [{ status: 200, description: 'A page of caps, the default first', body: capPage }],
  })
  caps(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.list_caps');
  }

  @Route({
    method: 'GET',
    path: '/v1/budget-caps/default',
    name: 'budgets.get_default_cap',
    tag,
    summary: 'Read the cap of owners that have none of their own',
    access: ANYBODY,
    input: z.strictObject({}),
    success: [cap],
  })
  defaultCap(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.get_cap');
  }

  @Route({
    method: 'PUT',
    path: '/v1/budget-caps/default',
    name: 'budgets.set_default_cap',
    tag,
    summary: 'Set the cap of owners that have none of their own',
    description: NEXT,
    access: ADMINS,
    input: setDefaultCapSchema,
    success: [cap],
    problems: ['version_mismatch'],
  })
  setDefaultCap(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.set_cap');
  }

  @Route({
    method: 'GET',
    path: '/v1/budget-caps/owners/:owner_id',
    name: 'budgets.get_cap',
    tag,
    summary: 'Read the cap that holds for an owner',
    access: ANYBODY,
    input: ownerCapRefSchema,
    success: [cap],
  })
  ownerCap(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.get_cap');
  }

  @Route({
    method: 'PUT',
    path: '/v1/budget-caps/owners/:owner_id',
    name: 'budgets.set_cap',
    tag,
    summary: 'Give an owner a cap of their own',
    description: NEXT,
    access: ADMINS,
    input: setOwnerCapSchema,
    success: [cap],
    problems: ['version_mismatch'],
  })
  setCap(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.set_cap');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/budget-caps/owners/:owner_id',
    name: 'budgets.clear_cap',
    tag,
    summary: 'Take an owner’s own cap away; the default holds again',
    access: ADMINS,
    input: clearCapSchema,
    success: [cap],
    problems: ['version_mismatch'],
  })
  clearCap(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'budgets.clear_cap');
  }

  @Route({
    method: 'GET',
    path: '/v1/spend',
    name: 'spend.report',
    tag,
    summary: 'Add up what was spent',
    description: `By owner, agent, model, tier, day and week, in tokens and money. Trees count when their root ends, for its owner. ${OWN}`,
    access: ANYBODY,
    input: spendQuerySchema,
    success: [{ status: 200, description: 'The sums, by the groups in their order', body: spendReport }],
  })
  spend(@FromRequest() call: Call<{ group_by?: string }>): Promise<unknown> {
    const { group_by: groups, ...filter } = call.input;
    return this.services.ledger(call, 'spend.report', {
      ...filter,
      ...(groups && { group_by: groups.split(',') }),
    });
  }

  @Route({
    method: 'GET',
    path: '/v1/spend/forecast',
    name: 'spend.forecast',
    tag,
    summary: 'Read where running weeks are heading',
    description: `If the mean of the last seven days goes on. ${OWN}`,
    access: ANYBODY,
    input: forecastSchema,
    success: [{ status: 200, description: 'Running weeks', body: forecastList }],
  })
  forecast(@FromRequest() call: Call): Promise<unknown> {
    return this.services.ledger(call, 'spend.forecast');
  }
}
