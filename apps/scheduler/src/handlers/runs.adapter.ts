import { Problem, REPLY_HEADER, requestSubject, slotAnswerSubject, slotKey } from '@runyard/contracts';
import type { Caller, RunRequest } from '@runyard/contracts';
import type { WorkQueues } from '@runyard/event-log';
import type { RpcClient } from '@runyard/service';
import { SOURCE } from './slot-log.adapter';

/** What the scheduler asks of runs: to start one, to cancel one. Both may be asked any number of times. */
export class Runs {
  constructor(
    private readonly queues: Pick<WorkQueues, 'publish'>,
    private readonly rpc: RpcClient,
  ) {}

  /** The request depends on agent and slot alone, so that it is the same request whoever sends it and how often. */
  async request(org: string, agentId: string, slot: number): Promise<void> {
    const request: RunRequest = {
      agent_id: agentId,
      key: slotKey(agentId, slot),
      input: `This is a scheduled run. It was due at ${new Date(slot).toISOString()}.`,
      trigger: 'scheduled',
      requested_by: `system:${SOURCE}`,
    };
    await this.queues.publish(requestSubject(org), request, {
      [REPLY_HEADER]: slotAnswerSubject(org, agentId, slot),
    });
  }

  /** A run that has ended meanwhile, or is gone, needs no cancel. */
  async cancel(org: string, runId: string): Promise<void> {
    const caller: Caller = { org, actor: `system:${SOURCE}`, userId: null, roles: ['operator'] };
    try {
      await this.rpc.call('run-executor', 'runs.cancel', caller, { run_id: runId, reason: 'replaced' });
    } catch (error) {
      if (
        !(error instanceof Problem) ||
        !['run_not_controllable', 'not_found', 'unavailable', 'conflict'].includes(error.code)
      )
        throw error;
    }
  }
}
