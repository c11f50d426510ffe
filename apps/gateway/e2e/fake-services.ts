import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { NatsConnection } from '@nats-io/transport-node';
import { BASE62, Problem, apiKeyOf } from '@runyard/contracts';
import type { AuthenticatedKey, Caller, Role, RpcReply, RpcRequest } from '@runyard/contracts';

export type Handler = (caller: Caller, input: Record<string, unknown>) => unknown;

/** A person or application with a key, as specs need them. */
export interface Actor {
  org: string;
  userId: string | null;
  roles: Role[];
  key: string;
  keyId: string;
}

const randomKey = (): string =>
  apiKeyOf([...randomBytes(43)].map((byte) => BASE62.charAt(byte % 62)).join(''));

export const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/** Services behind the door that answer what a spec says; they record who asked for what. */
export class FakeServices {
  readonly handlers = new Map<string, Handler>();
  readonly calls: { method: string; caller: Caller; input: Record<string, unknown> }[] = [];
  readonly keys = new Map<string, AuthenticatedKey>();

  constructor(private readonly connection: NatsConnection) {
    this.handlers.set('schedules.next_runs', () => ({ data: [] }));
    this.handlers.set('keys.authenticate', (_caller, { hash }) => {
      const key = this.keys.get(String(hash));
      if (!key) throw new Problem('unauthenticated', 'The API key is unknown or revoked');
      return key;
    });
    for (const service of [
      'agent-registry',
      'run-executor',
      'scheduler',
      'budget-ledger',
      'approvals',
      'knowledge',
      'tasks',
    ])
      connection.subscribe(`runyard.rpc.${service}.>`, {
        callback: (_error, message) => {
          const request = message.json<RpcRequest<Record<string, unknown>>>();
          const method = message.subject.split('.').slice(3).join('.');
          void this.answer(method, request).then((reply) => message.respond(JSON.stringify(reply)));
        },
      });
  }

  on(method: string, handler: Handler): this {
    this.handlers.set(method, handler);
    return this;
  }

  /** A new actor whose key the registry knows. */
  actor(
    org: string,
    roles: Role[],
    userId: string | null = randomUUID(),
    set: Partial<AuthenticatedKey> = {},
  ): Actor {
    const key = randomKey();
    const keyId = `key_${randomBytes(10).toString('hex')}`;
    this.keys.set(sha256(key), {
      org_id: org,
      key_id: keyId,
      label: 'spec',
      user_id: userId,
      roles,
      expires_at: null,
      ...set,
    });
    return { org, userId, roles, key, keyId };
  }

  callsOf(method: string) {
    return this.calls.filter((call) => call.method === method);
  }

  private async answer(
    method: string,
    { caller, input }: RpcRequest<Record<string, unknown>>,
  ): Promise<RpcReply> {
    this.calls.push({ method, caller, input });
    try {
      const handler = this.handlers.get(method);
      if (!handler) throw new Problem('internal', `no fake for ${method}`);
      return { ok: true, value: (await handler(caller, input)) ?? null };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return { ok: false, problem: { code: error.code, message: error.message, facts: error.facts } };
    }
  }
}
