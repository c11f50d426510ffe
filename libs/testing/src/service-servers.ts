import { connect } from '@nats-io/transport-node';
import type { NatsConnection } from '@nats-io/transport-node';
import { subjectOf } from '@runyard/contracts';
import type { Caller, Context, DomainEvent, NewEvent, RunRequest } from '@runyard/contracts';
import { connectEventLog, decodeEvents } from '@runyard/event-log';
import type { EventLogConnection, KnownEvents, QueueConsumer, QueueMessage } from '@runyard/event-log';
import { NatsRpcClient } from '@runyard/service';
import type { ServiceConfig } from '@runyard/service';
import { freshDatabase } from './database';
import type { TestDatabase, TestSchema } from './database';
import { startNats } from './nats';
import type { TestNats } from './nats';

const META = { actor: 'system:spec', source: 'spec' } as const;

/** What differs from a service of a spec as it usually is: silent, without a port, with a pool of 4. */
export type ServiceChanges = Partial<Omit<ServiceConfig, 'nats' | 'database'>> & { poolSize?: number };

/** The servers that one service stands on in a spec, the log that its neighbours write, and the way to call it. */
export class ServiceServers {
  private constructor(
    /** Name of the service, e.g. `budget-ledger`. */
    readonly service: string,
    readonly nats: TestNats,
    readonly database: TestDatabase,
    readonly bus: EventLogConnection,
    /** Apart from the bus: who calls, answers and listens as a neighbour. */
    readonly connection: NatsConnection,
  ) {}

  static async start(schema: TestSchema): Promise<ServiceServers> {
    const [nats, database] = await Promise.all([startNats(), freshDatabase([schema])]);
    const bus = await connectEventLog({ servers: nats.url, name: 'spec' });
    const connection = await connect({ servers: nats.url });
    return new ServiceServers(schema.service, nats, database, bus, connection);
  }

  /** How an instance of the service comes to its servers. */
  config({ poolSize = 4, ...changes }: ServiceChanges = {}): ServiceConfig {
    return {
      nats: { servers: [this.nats.url] },
      database: {
        url: this.database.urlFor(this.service),
        acrossUrl: this.database.acrossUrlFor(this.service),
        poolSize,
      },
      ops: null,
      logLevel: 'silent',
      rpcConcurrency: 32,
      shutdownMs: 5_000,
      ...changes,
    };
  }

  /** Calls a method of the service; throws the Problem that it answers. */
  call<O>(method: string, caller: Caller, input: unknown, timeoutMs?: number): Promise<O> {
    return new NatsRpcClient(this.connection).call<O>(this.service, method, caller, input, { timeoutMs });
  }

  /** Appends behind what an aggregate's log holds and answers the position. Throws VersionConflict if somebody else was faster. */
  async append(
    { context, org, id }: { context: Context; org: string; id: string },
    events: NewEvent[],
    at?: number,
  ): Promise<string> {
    const subject = subjectOf(context, org, id);
    const expected = await this.bus.log.lastSequence(subject);
    const { sequence } = await this.bus.log.append({ subject, expected, events, meta: META, at });
    return `${sequence}.0`;
  }

  /** The known events of an aggregate's log, in order. */
  async events<E extends DomainEvent>(subject: string, known: KnownEvents): Promise<E[]> {
    const commits = await this.bus.log.read(subject);
    return commits.flatMap((commit) => decodeEvents(commit, known).events as E[]);
  }

  /** Takes the requests for runs, one after the other, as an executor's intake would. */
  takeRequests(take: (request: RunRequest, message: QueueMessage) => Promise<void>): Promise<QueueConsumer> {
    return this.bus.queues.consume({
      queue: 'REQUESTS',
      durable: 'spec',
      concurrency: 1,
      handler: (message) =>
        take(JSON.parse(Buffer.from(message.body).toString('utf8')) as RunRequest, message),
    });
  }

  /** Ends the servers; whatever runs on them has to be closed before. */
  async stop(): Promise<void> {
    await this.connection.close();
    await this.bus.close();
    await this.database.drop();
    await this.nats[Symbol.asyncDispose]();
  }
}
