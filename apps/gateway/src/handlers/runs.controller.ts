import { Controller } from '@nestjs/common';
import {
  extendRunSchema,
  listRunsSchema,
  runPartSchema,
  runGetSchema,
  runReadSchema,
  runRefSchema,
  setRunModeSchema,
} from '@runyard/contracts';
import { Answer, FromRequest } from '../door/call';
import type { Call } from '../door/call';
import { Route } from '../door/route';
import type { RouteDeclaration } from '../door/route';
import { idempotencyKeyOf } from '../idempotency/fingerprint';
import { ANYBODY, OWNERS } from './access';
import { pageOf } from './rows';
import { controlledRow, inspectRow, runRow, stepPage, trajectoryRow } from './run-rows';
import { Services } from './services.adapter';

const tag = 'runs';
const controlled = {
  status: 200,
  description: 'The state that holds after it',
  body: controlledRow,
} as const;

/** Reading and controlling runs: passed on to the run executor. */
const control = (
  word: string,
  summary: string,
  input: RouteDeclaration['input'] = runRefSchema,
): RouteDeclaration => ({
  method: 'POST',
  path: `/v1/runs/:run_id/${word}`,
  name: `runs.${word}`,
  tag,
  summary,
  access: ANYBODY,
  input,
  success: [controlled],
  problems: ['run_not_controllable', 'conflict'],
  idempotency: 'replayed',
});

@Controller()
export class RunsController {
  constructor(private readonly services: Services) {}

  @Route({
    method: 'GET',
    path: '/v1/runs',
    name: 'runs.list',
    tag,
    summary: 'List runs, newest first',
    description: 'All filters that are given must hold.',
    access: ANYBODY,
    input: listRunsSchema,
    success: [{ status: 200, description: 'A page of runs', body: pageOf('RunPage', runRow) }],
    problems: ['invalid_cursor'],
  })
  list(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.list');
  }

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id',
    name: 'runs.get',
    tag,
    summary: 'Read a run, as it is or as it was',
    description: '`as_of`: a position in the log, as rows, steps and events carry it, or a time.',
    access: ANYBODY,
    input: runGetSchema,
    success: [{ status: 200, description: 'The run', body: runRow }],
  })
  async get(
    @FromRequest() call: Call<{ run_id: string; at_least?: string; as_of?: string }>,
  ): Promise<unknown> {
    if (call.input.as_of !== undefined) return this.services.executor(call, 'runs.get');
    return this.services.run(call, call.input.run_id, call.input.at_least);
  }

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id/steps',
    name: 'runs.steps',
    tag,
    summary: 'Read the steps of a run so far',
    access: ANYBODY,
    input: runPartSchema,
    success: [
      {
        status: 200,
        description: 'Model turns, tool calls and decisions, in order',
        body: stepPage,
      },
    ],
  })
  steps(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.steps');
  }

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id/inspect',
    name: 'runs.inspect',
    tag,
    summary: 'Read a run whole, with its tree',
    access: ANYBODY,
    input: runReadSchema,
    success: [{ status: 200, description: 'The run, its steps and its tree', body: inspectRow }],
  })
  inspect(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.inspect');
  }

  @Route({
    method: 'GET',
    path: '/v1/runs/:run_id/trajectory',
    name: 'runs.trajectory',
    tag,
    summary: 'Read the trajectory of an ended run',
    access: ANYBODY,
    input: runPartSchema,
    success: [
      {
        status: 200,
        description: 'Messages, tool calls, results and budget snapshots in sequence',
        body: trajectoryRow,
      },
    ],
    problems: ['conflict'],
  })
  trajectory(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.trajectory');
  }

  @Route(control('cancel', 'Cancel a run'))
  cancel(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.cancel');
  }

  @Route(control('pause', 'Pause a run'))
  pause(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.pause');
  }

  @Route(control('resume', 'Resume a paused run'))
  resume(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.resume');
  }

  @Route(control('extend', 'Raise the bounds of a run', extendRunSchema))
  extend(@FromRequest() call: Call): Promise<unknown> {
    const key = idempotencyKeyOf(call.headers['idempotency-key']);
    return this.services.executor(
      call,
      'runs.extend',
      key === undefined ? call.input : { ...call.input, key },
    );
  }

  @Route(control('mode', 'Set what writing tools may do', setRunModeSchema))
  mode(@FromRequest() call: Call): Promise<unknown> {
    return this.services.executor(call, 'runs.set_mode');
  }

  @Route({
    method: 'DELETE',
    path: '/v1/runs/:run_id',
    name: 'runs.delete',
    tag,
    summary: 'Delete a run',
    description: 'An unfinished run is cancelled to its end first: 202 until it has ended; ask again then.',
    access: OWNERS,
    input: runRefSchema,
    success: [
      { status: 200, description: 'Deleted', body: controlledRow },
      {
        status: 202,
        description: 'It is being cancelled; repeat the request when it has ended',
        body: controlledRow,
      },
    ],
    problems: ['conflict'],
  })
  async remove(@FromRequest() call: Call): Promise<Answer> {
    const row = await this.services.executor<{ cancel_requested?: boolean }>(call, 'runs.delete');
    return new Answer(row, { status: row.cancel_requested ? 202 : 200 });
  }
}
