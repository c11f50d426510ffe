import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { subjectOf, userAggregate } from '@runyard/contracts';
import type { Caller, NewEvent, Role } from '@runyard/contracts';
import { connectEventLog } from '@runyard/event-log';
import type { EventLogConnection } from '@runyard/event-log';
import { NatsRpcClient, startService } from '@runyard/service';
import { freshDatabase, startNats } from '@runyard/testing';
import type { TestDatabase, TestNats } from '@runyard/testing';
import { KnowledgeModule } from '../src/knowledge.module';
import { KNOWLEDGE_MIGRATIONS } from '../src/migrations';

/** The knowledge service on servers of its own, and people who exist. */
export class KnowledgeFixture {
  private constructor(
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    private readonly connection: NatsConnection,
    readonly app: INestApplicationContext,
  ) {}

  static async start(): Promise<KnowledgeFixture> {
    const nats = await startNats();
    const database = await freshDatabase([{ service: 'knowledge', migrations: KNOWLEDGE_MIGRATIONS }]);
    const service = {
      nats: { servers: [nats.url] },
      database: {
        url: database.urlFor('knowledge'),
        acrossUrl: database.acrossUrlFor('knowledge'),
        poolSize: 6,
      },
      ops: null,
      logLevel: 'silent' as const,
      rpcConcurrency: 32,
      shutdownMs: 5_000,
    };
    const app = await startService(KnowledgeModule.forRoot({ service }, { processMetrics: false }));
    const bus = await connectEventLog({ servers: nats.url, name: 'spec' });
    return new KnowledgeFixture(nats, database, bus, await connect({ servers: nats.url }), app);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.connection.close();
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }

  /** A new person of an org. */
  async person(org: string, roles: Role[] = ['member']): Promise<Caller> {
    const userId = randomUUID();
    const data = { userId, email: `${userId}@example.org`, name: 'Ada', timeZone: null, roles };
    await this.tell(org, userId, [{ type: 'UserAdded', data }]);
    return { org, actor: `user:${userId}`, userId, roles };
  }

  async tell(org: string, userId: string, events: NewEvent[]): Promise<void> {
    const subject = subjectOf('people', org, userAggregate(userId));
    const expected = await this.bus.log.lastSequence(subject);
    await this.bus.log.append({ subject, expected, events, meta: { actor: 'system:spec', source: 'spec' } });
  }

  call<O = Record<string, unknown>>(method: string, caller: Caller, input: unknown = {}): Promise<O> {
    return new NatsRpcClient(this.connection).call<O>('knowledge', method, caller, input);
  }

  async codeOf(method: string, caller: Caller, input: unknown = {}): Promise<string> {
    try {
      await this.call(method, caller, input);
      return 'ok';
    } catch (error) {
      return (error as { code: string }).code;
    }
  }
}
