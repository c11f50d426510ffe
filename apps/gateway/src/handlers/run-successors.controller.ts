import { Controller } from '@nestjs/common';
import { continueRunSchema, forkRunSchema, retryRunSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { idempotencyKeyOf } from '../idempotency/fingerprint';
import { ANYBODY } from './access';
import { successorRow } from './run-rows';
import { Services } from './services.adapter';

/** Runs that begin with what another one has recorded. */
const successor = (
  word: string,
  summary: string,
  description: string,
  input: RouteDeclaration['input'],
): RouteDeclaration => ({
  method: 'POST',
  path: `/v1/runs/:run_id/${word}`,
  name: `runs.${word}`,
  tag: 'runs',
  summary,
  description,
  access: ANYBODY,
  input,
  success: [{ status: 202, description: 'The new run', body: successorRow }],
  problems: ['run_not_controllable', 'conflict', 'idempotency_key_reused'],
  idempotency: 'replayed',
});

@Controller()
export class RunSuccessorsController {
  constructor(private readonly services: Services) {}

  @Route(
    successor(
      'fork',
      'Fork a run from one of its steps',
      'Recorded steps are taken over and not bought again. What the run has written since is not written again, unless repeat_writes says so; approvals are asked for again.',
      forkRunSchema.omit({ key: true }),
    ),
  )
  fork(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.fork', withKey(call));
  }

  @Route(
    successor(
      'retry',
      'Try a run again',
      'A new run of the agent as it is now, with the same input.',
      retryRunSchema.omit({ key: true }),
    ),
  )
  retry(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.retry', withKey(call));
  }

  @Route(
    successor(
      'continue',
      'Continue a run with the decision that it ended for want of',
      'For reviewers. The new run goes on with the dialog; the question names it, so saying it again is the same run.',
      continueRunSchema,
    ),
  )
  continue(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.continue');
  }
}

/** The key of the request names what comes of it: a new run, a bulk action. */
export function withKey(call: Call): Record<string, unknown> {
  const key = idempotencyKeyOf(call.headers['idempotency-key']);
  return key === undefined ? call.input : { ...call.input, key };
}
