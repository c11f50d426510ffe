import { Inject, Injectable } from '@nestjs/common';
import { parseWith, Problem, runRefSchema } from '@runyard/contracts';
import type { Caller } from '@runyard/contracts';
import { RpcMethod } from '@runyard/service';
import { EXECUTOR } from '../tokens';
import type { Executor } from './assembly.process';

/** RPC `runs.fence`: a request that was lost is closed for ever before what it held elsewhere is given back (P2.6). */
@Injectable()
export class FenceController {
  constructor(@Inject(EXECUTOR) private readonly executor: Pick<Executor, 'intakeProcess'>) {}

  /** Comes to nothing where the run has a log. */
  @RpcMethod('runs.fence')
  async fence(caller: Caller, input: unknown): Promise<{ run_id: string }> {
    if (!caller.actor.startsWith('system:'))
      throw new Problem('forbidden', 'Only parts of the platform close requests that were lost.');
    const { run_id } = parseWith(runRefSchema, input);
    await this.executor.intakeProcess.fence(caller.org, run_id);
    return { run_id };
  }
}
