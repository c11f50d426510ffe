import { Problem, subjectOf } from '@runyard/contracts';
import type { ProblemCode } from '@runyard/contracts';
import type { EventLog } from '@runyard/event-log';
import type { RpcClient } from '@runyard/service';
import type { Call } from '../door/call';

/** The services behind the door. Their answers are passed on as they are; who may see what is theirs to decide. */
export class Services {
  constructor(
    private readonly rpc: RpcClient,
    private readonly log: Pick<EventLog, 'lastSequence'>,
  ) {}

  registry<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('agent-registry', method, call.caller, input, { requestId: call.requestId });
  }

  executor<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('run-executor', method, call.caller, input, { requestId: call.requestId });
  }

  knowledge<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('knowledge', method, call.caller, input, { requestId: call.requestId });
  }

  scheduler<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('scheduler', method, call.caller, input, { requestId: call.requestId });
  }

  approvals<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('approvals', method, call.caller, input, { requestId: call.requestId });
  }

  tasks<Row>(
    call: Call,
    method: string,
    input: Record<string, unknown> = call.input,
    timeoutMs?: number,
  ): Promise<Row> {
    const options = { requestId: call.requestId, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
    return this.rpc.call('tasks', method, call.caller, input, options);
  }

  ledger<Row>(call: Call, method: string, input: Record<string, unknown> = call.input): Promise<Row> {
    return this.rpc.call('budget-ledger', method, call.caller, input, { requestId: call.requestId });
  }

  /**
   * A run's row, if the caller may see it. A run that the log has and the rows do not have yet is waited for: a client
   * that follows `Location` right after its 202 must not be told that the run does not exist.
   */
  run(call: Call, runId: string, atLeast?: string): Promise<Row> {
    return this.visible(
      call,
      'runs.get',
      { run_id: runId },
      subjectOf('runs', call.caller.org, runId),
      atLeast,
    );
  }

  /** A conversation's row, if the caller may see it; waited for like a run's. */
  conversation(call: Call, id: string): Promise<Row> {
    const subject = subjectOf('conversations', call.caller.org, id);
    return this.visible(call, 'conversations.get', { conversation_id: id }, subject);
  }

  private async visible(
    call: Call,
    method: string,
    ref: Row,
    subject: string,
    atLeast?: string,
  ): Promise<Row> {
    if (atLeast !== undefined) return this.visibleAt(call, method, { ...ref, at_least: atLeast });
    try {
      return await this.executor(call, method, ref);
    } catch (error) {
      if (!hasCode(error, 'not_found')) throw error;
      const sequence = await this.log.lastSequence(subject);
      if (sequence === 0) throw error;
      return this.visibleAt(call, method, { ...ref, at_least: `${sequence}.0` });
    }
  }

  /** Each question waits for the rows by itself; a few of them outlast a busy projector, which EventSource could not. */
  private async visibleAt(call: Call, method: string, input: Row): Promise<Row> {
    for (let tries = 1; ; tries++) {
      try {
        return await this.executor(call, method, input);
      } catch (error) {
        if (tries === POSITION_TRIES || !hasCode(error, 'unavailable')) throw error;
      }
    }
  }
}

type Row = Record<string, unknown>;

const POSITION_TRIES = 3;

const hasCode = (error: unknown, code: ProblemCode): boolean =>
  error instanceof Problem && error.code === code;
