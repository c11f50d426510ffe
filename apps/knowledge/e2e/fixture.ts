import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { userAggregate } from '@runyard/contracts';
import type { Caller, NewEvent, Role } from '@runyard/contracts';
import { startService } from '@runyard/service';
import { ServiceServers } from '@runyard/testing';
import { KnowledgeModule } from '../src/knowledge.module';
import { KNOWLEDGE_MIGRATIONS } from '../src/migrations';

/** The knowledge service on servers of its own, and people who exist. */
export class KnowledgeFixture {
  private constructor(
    readonly servers: ServiceServers,
    readonly app: INestApplicationContext,
  ) {}

  static async start(): Promise<KnowledgeFixture> {
    const servers = await ServiceServers.start({ service: 'knowledge', migrations: KNOWLEDGE_MIGRATIONS });
    const service = servers.config({ poolSize: 6 });
    const app = await startService(KnowledgeModule.forRoot({ service }, { processMetrics: false }));
    return new KnowledgeFixture(servers, app);
  }

  async stop(): Promise<void> {
    await this.app.close();
    await this.servers.stop();
  }

  /** A new person of an org. */
  async person(org: string, roles: Role[] = ['member']): Promise<Caller> {
    const userId = randomUUID();
    const data = { userId, email: `${userId}@example.org`, name: 'Ada', timeZone: null, roles };
    await this.tell(org, userId, [{ type: 'UserAdded', data }]);
    return { org, actor: `user:${userId}`, userId, roles };
  }

  async tell(org: string, userId: string, events: NewEvent[]): Promise<void> {
    await this.servers.append({ context: 'people', org, id: userAggregate(userId) }, events);
  }

  call<O = Record<string, unknown>>(method: string, caller: Caller, input: unknown = {}): Promise<O> {
    return this.servers.call<O>(method, caller, input);
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
