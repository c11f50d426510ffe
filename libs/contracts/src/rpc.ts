import type { Actor } from './envelope';
import type { Role } from './people/people.events';

/** Who calls, established by the gateway from the credential alone. */
export interface Caller {
  org: string;
  actor: Actor;
  /** The person behind the credential; null for a key that stands for an application. */
  userId: string | null;
  roles: Role[];
}

/** Request/reply between services: subject `runyard.rpc.<service>.<method>`, JSON both ways. */
export interface RpcRequest<I = unknown> {
  caller: Caller;
  input: I;
  traceparent?: string;
  requestId?: string;
}

export type RpcReply<O = unknown> =
  | { ok: true; value: O }
  | { ok: false; problem: { code: string; message: string; facts: Record<string, unknown> } };

export const rpcSubject = (service: string, method: string): string => `runyard.rpc.${service}.${method}`;
