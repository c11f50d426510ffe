import { randomUUID } from 'node:crypto';
import type { INestApplicationContext } from '@nestjs/common';
import { APPROVAL_EVENTS, TOOLS_ID, subjectOf } from '@runyard/contracts';
import type { ApprovalEvent, ApprovalRequested, Caller, Context, NewEvent, Role } from '@runyard/contracts';
import { approvalIdOf, digestOf } from '@runyard/event-log';
import { blobs } from '@runyard/persistence';
import type { Database } from '@runyard/persistence';
import { startService } from '@runyard/service';
import { ServiceServers, eventually, fixedClock } from '@runyard/testing';
import type { FixedClock } from '@runyard/testing';
import { ApprovalsModule } from '../src/approvals.module';
import { APPROVALS_MIGRATIONS } from '../src/migrations';

export const HOUR = 3_600_000;

const refund = {
  name: 'refund',
  description: 'Pays money back',
  inputSchema: {
    type: 'object',
    properties: { amount: { type: 'number', maximum: 100 }, customer: { type: 'string' } },
    required: ['amount'],
    additionalProperties: false,
  },
  effect: 'write',
  idempotent: false,
  source: { kind: 'builtin', name: 'refund' },
  timeoutMs: 1_000,
  endsRun: false,
};

/** Real servers, services on a clock that stands still, and runs that ask. */
export class World {
  readonly clock: FixedClock = fixedClock('2026-11-30T00:00:00Z');
  readonly org = randomUUID();
  readonly owner = randomUUID();
  readonly apps: INestApplicationContext[] = [];

  private constructor(
    readonly servers: ServiceServers,
    readonly db: Database,
  ) {}

  static async start(instances = 2): Promise<World> {
    const servers = await ServiceServers.start({ service: 'approvals', migrations: APPROVALS_MIGRATIONS });
    const world = new World(servers, servers.database.connect('approvals'));
    for (let at = 0; at < instances; at++) await world.startInstance();
    const behaviour = {
      prompt: 'p',
      modelId: null,
      tools: [],
      bounds: {},
      approvalPolicy: 'park',
      mode: 'ask',
    };
    await world.append('agents', 'clerk', [
      {
        type: 'AgentCreated',
        data: { ownerId: world.owner, version: 1, behaviour, details: {}, enabled: true },
      },
    ]);
    await world.append('catalogue', TOOLS_ID, [
      { type: 'ToolRegistered', data: { tool: { ...refund, agentsAllowed: true } } },
    ]);
    return world;
  }

  async startInstance(): Promise<void> {
    const service = this.servers.config();
    const overrides = { processMetrics: false };
    this.apps.push(
      await startService(ApprovalsModule.forRoot({ service, tickMs: 50 }, overrides, () => this.clock.now())),
    );
  }

  async stop(): Promise<void> {
    await Promise.all(this.apps.splice(0).map((app) => app.close()));
    await this.servers.stop();
  }

  /** Appends at the clock's time. */
  append(context: Context, id: string, events: NewEvent[]): Promise<string> {
    return this.servers.append({ context, org: this.org, id }, events, this.clock.now());
  }

  /** A run with a definition that holds the tool. */
  async run(runId: string): Promise<void> {
    const definition = await blobs(this.db).put(this.org, JSON.stringify({ tools: [refund] }));
    await this.append('runs', runId, [
      { type: 'RunQueued', data: { agentId: 'clerk', agentVersion: 1, ownerId: this.owner, definition } },
    ]);
  }

  /** The run asks about a call; answers the approval's id. */
  async ask(runId: string, callId: string, more: Partial<ApprovalRequested['data']> = {}): Promise<string> {
    const approvalId = approvalIdOf(runId, callId, more.kind ?? 'call');
    const given = { amount: 10, customer: callId };
    const data: ApprovalRequested['data'] = {
      approvalId,
      kind: 'call',
      callId,
      step: 1,
      tool: 'refund',
      arguments: { text: JSON.stringify(given) },
      argumentsDigest: digestOf(given),
      ruleId: null,
      groupKey: 'tool:refund',
      policyVersion: 0,
      expiresAt: this.clock.now() + HOUR,
      ...more,
    };
    await this.append('runs', runId, [{ type: 'ApprovalRequested', data }]);
    return approvalId;
  }

  /** Asks and waits until the question is there. */
  async asked(runId: string, callId: string, more: Partial<ApprovalRequested['data']> = {}): Promise<string> {
    await this.run(runId).catch(() => undefined);
    const id = await this.ask(runId, callId, more);
    await eventually(async () => (await this.events(id)).length > 0);
    return id;
  }

  caller(roles: Role[], userId: string | null = randomUUID()): Caller {
    return { org: this.org, actor: userId ? `user:${userId}` : 'service:key_x', userId, roles };
  }

  call<O = Record<string, unknown>>(method: string, caller: Caller, input: object): Promise<O> {
    return this.servers.call<O>(method, caller, input);
  }

  /** What an approval's log says, in order. */
  events(approvalId: string, org = this.org): Promise<ApprovalEvent[]> {
    return this.servers.events(subjectOf('approvals', org, approvalId), APPROVAL_EVENTS);
  }

  types = async (approvalId: string): Promise<string[]> =>
    (await this.events(approvalId)).map(({ type }) => type);
}

/** `ok`, or the code of the refusal. */
export const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'ok',
    (error: { code: string }) => error.code,
  );
