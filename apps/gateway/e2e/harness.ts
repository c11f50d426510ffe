import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { BASE62, Problem, REPLY_HEADER, apiKeyOf, subjectOf } from '@runyard/contracts';
import type {
  AuthenticatedKey,
  Caller,
  NewEvent,
  Role,
  RpcReply,
  RpcRequest,
  RunRequest,
} from '@runyard/contracts';
import { applyStreams, connectEventLog, runIdOf } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { streamDefinitions } from '../../../deploy/nats/streams';
import { GATEWAY_DEFAULTS } from '../src/config';
import type { GatewayConfig } from '../src/config';
import { startGateway } from '../src/http.module';
import type { RunningGateway } from '../src/http.module';
import { GATEWAY_MIGRATIONS } from '../src/migrations';

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

export interface Harness extends AsyncDisposable {
  nats: TestNats;
  db: TestDatabase;
  bus: EventLogConnection;
  connection: NatsConnection;
  services: FakeServices;
  gateway: RunningGateway;
  url: string;
  config: GatewayConfig;
  /** Lines that the gateway logged. */
  logged: string[];
  append(org: string, runId: string, ...events: NewEvent[]): Promise<number>;
  stop(): Promise<void>;
}

/** The gateway with real NATS and Postgres, and fake services behind it. */
export async function startHarness(set: Partial<Omit<GatewayConfig, 'service'>> = {}): Promise<Harness> {
  const [nats, db] = await Promise.all([
    startNats(),
    freshDatabase([{ service: 'gateway', migrations: GATEWAY_MIGRATIONS }]),
  ]);
  const connection = await connect({ servers: nats.url });
  await applyStreams(connection, streamDefinitions());
  const bus = await connectEventLog({ servers: [nats.url], name: 'spec' });
  const config: GatewayConfig = {
    ...GATEWAY_DEFAULTS,
    http: { ...GATEWAY_DEFAULTS.http, port: 0 },
    ...set,
    service: {
      nats: { servers: [nats.url] },
      database: { url: db.urlFor('gateway'), acrossUrl: db.acrossUrlFor('gateway'), poolSize: 4 },
      ops: { host: '127.0.0.1', port: 0 },
      logLevel: 'info',
      rpcConcurrency: 8,
      shutdownMs: 1_000,
    },
  };
  const services = new FakeServices(connection);
  await connection.flush();
  const logged: string[] = [];
  const gateway = await startGateway(config, { write: (line) => void logged.push(line) });
  const harness: Harness = {
    nats,
    db,
    bus,
    connection,
    services,
    gateway,
    url: gateway.url,
    config,
    logged,
    append: (org, runId, ...events) => append(bus, org, runId, events),
    stop: async () => {
      await gateway.close();
      await bus.close();
      await connection.close();
      await Promise.all([nats[Symbol.asyncDispose](), db.drop()]);
    },
    [Symbol.asyncDispose]: () => harness.stop(),
  };
  return harness;
}

async function append(
  { log }: EventLogConnection,
  org: string,
  runId: string,
  events: NewEvent[],
): Promise<number> {
  const subject = subjectOf('runs', org, runId);
  const expected = await log.lastSequence(subject);
  const { sequence } = await log.append({
    subject,
    expected,
    events,
    meta: { actor: 'system:spec', source: 'run-executor' },
  });
  return sequence;
}

/** Events of a short run; content is what a spec needs, not what an executor would say. */
export const runEvents = {
  queued: { type: 'RunQueued', data: { agentId: 'helper', input: { text: 'hello' } } },
  started: { type: 'RunStarted', data: { epoch: 1, instance: 'spec' } },
  turn: (step: number, text = '') => ({ type: 'ModelTurnCompleted', data: { step, text: { text } } }),
  succeeded: { type: 'RunSucceeded', data: { output: { text: 'done' } } },
  skipped: { type: 'RunSkipped', data: { reason: 'already_running', holder: null } },
} satisfies Record<string, NewEvent | ((step: number, text?: string) => NewEvent)>;

/** Intake as the executor does it: the same key is the same run; another body is refused. Starts each run and leaves it open. */
export async function fakeIntake(
  harness: Harness,
  decide: (request: RunRequest, runId: string) => NewEvent[] = () => [runEvents.queued],
) {
  const bodies = new Map<string, string>();
  const { queues, log } = harness.bus;
  return queues.consume({
    queue: 'REQUESTS',
    durable: 'spec-intake',
    concurrency: 8,
    handler: async (message) => {
      const org = message.subject.split('.')[2] ?? '';
      const request = JSON.parse(Buffer.from(message.body).toString('utf8')) as RunRequest;
      const runId = runIdOf(org, request.key);
      const answer = (body: unknown) =>
        harness.connection.publish(message.headers[REPLY_HEADER] ?? 'nobody', JSON.stringify(body));
      const body = JSON.stringify([request.agent_id, request.input]);
      const known = bodies.get(runId);
      if (known !== undefined && known !== body)
        return answer({
          ok: false,
          code: 'idempotency_key_reused',
          message: 'This key was used for another request',
          facts: { run_id: runId },
        });
      bodies.set(runId, body);
      const created = known === undefined;
      if (created) {
        const events = decide(request, runId);
        if (events.length === 0)
          return answer({
            ok: false,
            code: 'agent_disabled',
            message: 'The agent is switched off',
            facts: {},
          });
        await harness.append(org, runId, ...events);
      }
      const sequence = await log.lastSequence(subjectOf('runs', org, runId));
      answer({ ok: true, run_id: runId, state: 'queued', reason: null, position: `${sequence}.0`, created });
    },
  });
}
