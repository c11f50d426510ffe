import { Controller } from '@nestjs/common';
import { runRefSchema } from '@runyard/contracts';
import { FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY } from './access';
import { cancellationRow } from './run-rows';
import { Services } from './services.adapter';

/** What a cancel came to: passed on to the run executor. */
@Controller()
export class RunCancellationController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id/cancellation',
    name: 'runs.cancellation',
    tag: 'runs',
    summary: 'Read what a cancel came to',
    description:
      'For the run and every run below it: what was stopped, when it was asked, when it was quiet, and what was spent afterwards.',
    access: ANYBODY,
    input: runRefSchema,
    success: [{ status: 200, description: 'The receipt', body: cancellationRow }],
  })
  cancellation(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.cancellation');
  }
}
