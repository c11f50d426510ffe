import { setTimeout as delay } from 'node:timers/promises';
import { errors } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { Problem, rpcSubject } from '@runyard/contracts';
import type { Caller, RpcReply, RpcRequest } from '@runyard/contracts';
import { problemOf } from './problem.adapter';
import { currentContext } from './request-context';
import type { RpcClient } from './types';

const DEFAULT_TIMEOUT_MS = 5_000;
/** "No responders" proves that nobody took the request, so asking again is safe; a restart of a service fits into these pauses. */
const NOBODY_PAUSES_MS = [100, 400];

/** RPC over NATS request/reply. Passes the request id and the trace of the work in hand on. */
export class NatsRpcClient implements RpcClient {
  constructor(private readonly connection: NatsConnection) {}

  async call<O>(
    service: string,
    method: string,
    caller: Caller,
    input: unknown,
    options: { timeoutMs?: number; requestId?: string } = {},
  ): Promise<O> {
    const context = currentContext();
    const request: RpcRequest = {
      caller,
      input,
      traceparent: context?.traceparent,
      requestId: options.requestId ?? context?.requestId,
    };
    const body = JSON.stringify(request);
    for (let attempt = 0; ; attempt++) {
      try {
        const message = await this.connection.request(rpcSubject(service, method), body, {
          timeout: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        });
        return valueOf(message.json<RpcReply<O>>());
      } catch (error) {
        const pauseMs = NOBODY_PAUSES_MS[attempt];
        if (!isNobody(error) || pauseMs === undefined) throw failure(error, service, method);
        await delay(pauseMs);
      }
    }
  }
}

function valueOf<O>(reply: RpcReply<O>): O {
  if (reply.ok) return reply.value;
  throw problemOf(reply.problem);
}

function isNobody(error: unknown): boolean {
  return (
    error instanceof errors.NoRespondersError ||
    (error instanceof errors.RequestError && error.isNoResponders())
  );
}

/** `maybeDone` tells a caller that must not repeat itself that the other side may have acted. */
function failure(error: unknown, service: string, method: string): unknown {
  if (error instanceof Problem) return error;
  const facts = { service, method, retryable: true, retryAfterSeconds: 1 };
  if (isNobody(error))
    return new Problem('unavailable', `${service} is not running; try again shortly`, {
      ...facts,
      maybeDone: false,
    });
  if (error instanceof errors.InvalidArgumentError)
    return new Problem('payload_too_large', 'The request is larger than the bus carries');
  return new Problem('unavailable', `${service} did not answer in time; it may still have done it`, {
    ...facts,
    maybeDone: true,
  });
}
