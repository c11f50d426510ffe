import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '@runyard/contracts';
import { listRunsSchema, parseWith, runGetSchema, runPartSchema, runReadSchema } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import type { RunQueries } from '../projections/run.queries';
import { RUN_QUERIES } from '../tokens';

/** Reads of runs, answered from rows. */
@Injectable()
export class QueriesController {
  constructor(@Inject(RUN_QUERIES) private readonly queries: RunQueries) {}

  @RpcMethod('runs.list')
  list(caller: Caller, input: unknown) {
    return this.queries.list(caller, parseWith(listRunsSchema, input));
  }

  @RpcMethod('runs.get')
  get(caller: Caller, input: unknown) {
    return this.queries.get(caller, parseWith(runGetSchema, input));
  }

  @RpcMethod('runs.steps')
  steps(caller: Caller, input: unknown) {
    return this.queries.steps(caller, parseWith(runPartSchema, input));
  }

  @RpcMethod('runs.inspect')
  inspect(caller: Caller, input: unknown) {
    return this.queries.inspect(caller, parseWith(runReadSchema, input));
  }

  @RpcMethod('runs.trajectory')
  trajectory(caller: Caller, input: unknown) {
    return this.queries.trajectory(caller, parseWith(runPartSchema, input));
  }
}
