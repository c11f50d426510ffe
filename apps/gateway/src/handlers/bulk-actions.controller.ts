import { Controller } from '@nestjs/common';
import {
  bulkActionSchema,
  bulkReadSchema,
  bulkRefSchema,
  bulkResultsSchema,
  listBulkActionsSchema,
} from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import { ANYBODY } from './access';
import { bulkPreviewRow, bulkResultRow, bulkRow } from './bulk-rows';
import { pageOf } from './rows';
import { withKey } from './run-successors.controller';
import { Services } from './services.adapter';

const tag = 'bulk actions';

/** The same thing done to every run that a filter finds: passed on to the run executor. */
@Controller()
export class BulkActionsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'POST',
    path: '/v1/bulk-actions',
    name: 'bulk.start',
    tag,
    summary: 'Cancel, pause, resume or retry all runs that a filter finds',
    description:
      'The filter is that of the list of runs. Of what it finds, cancel and pause take unfinished runs, resume paused ones, retry those that failed or were cancelled; runs that are queued later are not meant. A preview counts them all, names the newest and does nothing. Otherwise the action is recorded and carried out in the background, however many runs it is. Each run is told in the name of whoever asked, so runs that one may not control are refused one by one.',
    access: ANYBODY,
    input: bulkActionSchema,
    success: [
      { status: 202, description: 'The action, recorded', body: bulkRow },
      { status: 200, description: 'The preview', body: bulkPreviewRow },
    ],
    problems: ['idempotency_key_reused'],
    idempotency: 'replayed',
  })
  async start(@FromRequest() call: Call<{ preview?: boolean }>): Promise<unknown> {
    const body = await this.services.executor<{ bulk_action_id?: string }>(call, 'bulk.start', withKey(call));
    if (body.bulk_action_id === undefined) return new Answer(body, { status: 200 });
    return new Answer(body, { headers: { location: `/v1/bulk-actions/${body.bulk_action_id}` } });
  }

  @Route({
    method: 'GET',
    path: '/v1/bulk-actions',
    name: 'bulk.list',
    tag,
    summary: 'List bulk actions, newest first',
    description: "One's own; admins and operators get all of the org.",
    access: ANYBODY,
    input: listBulkActionsSchema,
    success: [{ status: 200, description: 'A page', body: pageOf('BulkActionPage', bulkRow) }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'bulk.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/bulk-actions/:bulk_action_id',
    name: 'bulk.get',
    tag,
    summary: 'Read how far a bulk action is',
    access: ANYBODY,
    input: bulkReadSchema,
    success: [{ status: 200, description: 'The action with its counts', body: bulkRow }],
  })
  get(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'bulk.get');
  }

  @Route({
    method: 'GET',
    path: '/v1/bulk-actions/:bulk_action_id/results',
    name: 'bulk.results',
    tag,
    summary: 'Read what became of each run of a bulk action',
    description:
      'In the order in which they are told. GET /v1/runs?bulk_action_id= lists the same runs as they are now.',
    access: ANYBODY,
    input: bulkResultsSchema,
    success: [{ status: 200, description: 'A page', body: pageOf('BulkResultPage', bulkResultRow) }],
    problems: ['invalid_cursor'],
  })
  results(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'bulk.results');
  }

  @Route({
    method: 'POST',
    path: '/v1/bulk-actions/:bulk_action_id/abort',
    name: 'bulk.abort',
    tag,
    summary: 'Abort a bulk action',
    description:
      'Runs that are being told are finished, no further one is begun. What was done stays done. For whoever asked for it, admins and operators.',
    access: ANYBODY,
    input: bulkRefSchema,
    success: [{ status: 200, description: 'The action: aborting, or aborted already', body: bulkRow }],
    problems: ['conflict'],
    idempotency: 'replayed',
  })
  abort(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'bulk.abort');
  }
}
