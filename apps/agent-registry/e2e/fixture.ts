import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import type { Caller, CreatedKey, OrgRow, Role, UserRow } from '@runyard/contracts';
import { startService } from '@runyard/service';
import { ServiceServers } from '@runyard/testing';
import { AgentRegistryModule } from '../src/agent-registry.module';
import { AGENT_REGISTRY_MIGRATIONS } from '../src/migrations';

export const INSTALLATION: Caller = { org: '', actor: 'system:installation', userId: null, roles: [] };

export interface Org {
  org: OrgRow;
  user: UserRow;
  key: CreatedKey;
  admin: Caller;
}

/** Servers of one spec file, and the registries that run on them. */
export class RegistryFixture implements AsyncDisposable {
  private readonly instances = new Set<INestApplicationContext>();

  private constructor(readonly servers: ServiceServers) {}

  static async start(): Promise<RegistryFixture> {
    const schema = { service: 'agent-registry', migrations: AGENT_REGISTRY_MIGRATIONS };
    return new RegistryFixture(await ServiceServers.start(schema));
  }

  /** Starts one more registry. */
  async run(): Promise<INestApplicationContext> {
    const service = this.servers.config({ poolSize: 6, ops: { host: '127.0.0.1', port: 0 } });
    const app = await startService(AgentRegistryModule.forRoot({ service }, { processMetrics: false }));
    this.instances.add(app);
    return app;
  }

  async end(app: INestApplicationContext): Promise<void> {
    this.instances.delete(app);
    await app.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.instances].map((app) => this.end(app)));
    await this.servers.stop();
  }

  call<O>(method: string, caller: Caller, input: unknown = {}): Promise<O> {
    return this.servers.call<O>(method, caller, input);
  }

  /** The code and facts of the refusal that a call must end in. */
  async refusal(
    method: string,
    caller: Caller,
    input: unknown = {},
  ): Promise<{ code: string; message: string; facts: Record<string, unknown> }> {
    try {
      await this.call(method, caller, input);
    } catch (error) {
      const { code, message, facts } = error as {
        code: string;
        message: string;
        facts: Record<string, unknown>;
      };
      return { code, message, facts };
    }
    throw new Error(`${method} was not refused`);
  }

  async org(): Promise<Org> {
    const admin = { email: `${randomUUID()}@example.org`, name: 'Ada' };
    const created = await this.call<Omit<Org, 'admin'>>('orgs.create', INSTALLATION, {
      name: 'Org',
      time_zone: 'Europe/Berlin',
      admin,
    });
    return { ...created, admin: callerOf(created.org.org_id, created.user.user_id, created.user.roles) };
  }

  async member(org: Org, roles: Role[] = ['member']): Promise<Caller> {
    const user = await this.call<UserRow>('users.add', org.admin, {
      email: `${randomUUID()}@example.org`,
      name: 'Max',
      roles,
    });
    return callerOf(org.org.org_id, user.user_id, roles);
  }
}

export const callerOf = (org: string, userId: string, roles: Role[]): Caller => ({
  org,
  actor: `user:${userId}`,
  userId,
  roles,
});

export const MODEL = {
  label: 'Fast one',
  tier: 'fast',
  provider: { kind: 'recorded', recording: 'demo.json' },
  model: 'demo-1',
  context_window: 100_000,
};

export const TOOL = {
  description: 'Looks something up',
  input_schema: { type: 'object', properties: { q: { type: 'string' } }, required: ['q'] },
  effect: 'read',
  source: { kind: 'builtin', name: 'echo' },
};
