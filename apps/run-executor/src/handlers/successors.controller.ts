import { Inject, Injectable } from '@nestjs/common';
import type { Caller } from '@runyard/contracts';
import { continueRunSchema, forkRunSchema, parseWith, retryRunSchema } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { EXECUTOR } from '../tokens';
import type { Executor } from './assembly.process';
import { requireRight } from './controls.controller';
import type { Successor } from './successors.process';

/** Runs that begin with what another one has recorded. */
@Injectable()
export class SuccessorsController {
  constructor(@Inject(EXECUTOR) private readonly executor: Executor) {}

  @RpcMethod('runs.fork')
  async fork(caller: Caller, input: unknown): Promise<Successor> {
    const { run_id, key, ...wish } = parseWith(forkRunSchema, input);
    await this.requireOwn(caller, run_id);
    return this.executor.successors.fork(caller, run_id, wish, key);
  }

  @RpcMethod('runs.retry')
  async retry(caller: Caller, input: unknown): Promise<Successor> {
    const { run_id, key } = parseWith(retryRunSchema, input);
    await this.requireOwn(caller, run_id);
    return this.executor.successors.retry(caller, run_id, key);
  }

  /** Whoever may decide may let a run go on with the decision. */
  @RpcMethod('runs.continue')
  continue(caller: Caller, input: unknown): Promise<Successor> {
    const { run_id, ...decision } = parseWith(continueRunSchema, input);
    return this.executor.successors.decide(caller, run_id, decision);
  }

  private async requireOwn(caller: Caller, runId: string): Promise<void> {
    const { run } = await this.executor.runs.glance(caller.org, runId);
    requireRight(caller, run);
  }
}
