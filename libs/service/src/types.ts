import type { Caller } from '@runyard/contracts';

/** Calls a method of another service over NATS request/reply. Throws the Problem the other side answered, or `unavailable`. */
export interface RpcClient {
  call<O>(
    service: string,
    method: string,
    caller: Caller,
    input: unknown,
    options?: { timeoutMs?: number; requestId?: string },
  ): Promise<O>;
}

/** Handles one RPC method. `input` is unparsed: parse it with `parseWith`. A thrown Problem is the answer. */
export type RpcHandler = (caller: Caller, input: unknown) => Promise<unknown>;
