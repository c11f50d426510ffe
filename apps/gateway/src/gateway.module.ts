import type { Server } from 'node:http';
import { Inject, Module } from '@nestjs/common';
import type { DynamicModule, OnModuleDestroy, OnModuleInit, Provider } from '@nestjs/common';
import { APP_FILTER, APP_INTERCEPTOR, HttpAdapterHost } from '@nestjs/core';
import type { EventLog, WorkQueues } from '@runyard/event-log';
import type { Database } from '@runyard/persistence';
import {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  NATS_CONNECTION,
  RPC_CLIENT,
  SERVICE_CONFIG,
  ServiceModule,
  TRACING,
  WORK_QUEUES,
} from '@runyard/service';
import type { Logger, RpcClient, ServiceConfig, Tracing } from '@runyard/service';
import type { GatewayConfig } from './config';
import { Authenticator } from './credentials/authenticator';
import { KeyCache } from './credentials/key-cache';
import { TokenVerifier } from './credentials/token-verifier';
import { AnswerInterceptor } from './door/answer-interceptor';
import { Door } from './door/door';
import { RateLimiter } from './door/rate-limit';
import { CONTROLLERS, routeTable } from './handlers/controllers';
import { RunRequests } from './handlers/run-requests.adapter';
import type { ReplyConnection } from './handlers/run-requests.adapter';
import { RunStart } from './handlers/run-start';
import { NextRuns } from './handlers/next-runs';
import { Services } from './handlers/services.adapter';
import { IdempotentCalls } from './idempotency/idempotent-calls';
import { KeptAnswers } from './idempotency/kept-answers';
import { migrateGateway } from './migrations';
import { ApiDescription } from './openapi/api-description';
import { ProblemFilter } from './problems/problem-filter';
import { BOARDS, BoardStreams } from './stream/board-streams';
import { RunEnds } from './stream/run-end';
import { RunStreams } from './stream/run-streams';
import { RunTail } from './stream/run-tail.process';

/** Rows may lag behind the log for this long after a change of people; nothing is cached meanwhile. */
const SETTLE_MS = 2_000;
const MAX_CACHED_KEYS = 20_000;
/** Credentials that do not hold, per address: enough for a misconfigured client, too few for guessing. */
const FAILURES = { quota: 60, windowSeconds: 60 };

/** The tail of TASKS, for all boards' viewers. */
const BOARD_TAIL = Symbol('BOARD_TAIL');

/** The one public door: who asks, what they may ask, and the services that answer. No domain logic. */
@Module({})
export class GatewayModule implements OnModuleInit, OnModuleDestroy {
  private unwatch: () => void = () => undefined;

  constructor(
    private readonly authenticator: Authenticator,
    private readonly streams: RunStreams,
    private readonly tail: RunTail,
    @Inject(BOARD_TAIL) private readonly boardTail: RunTail,
    @Inject(EVENT_LOG) private readonly log: EventLog,
    @Inject(SERVICE_CONFIG) private readonly config: ServiceConfig,
    private readonly http: HttpAdapterHost,
  ) {}

  static forRoot(config: GatewayConfig, logTo?: { write(line: string): void }): DynamicModule {
    const service = ServiceModule.forRoot({
      name: 'gateway',
      config: config.service,
      migrate: migrateGateway,
      logTo,
    });
    return {
      module: GatewayModule,
      imports: [service],
      controllers: CONTROLLERS,
      providers: providersOf(config),
    };
  }

  onModuleInit(): void {
    this.unwatch = this.authenticator.watch(this.log);
    this.authenticator.onChange((org) => this.streams.dismissOrg(org));
  }

  /**
   * Viewers and waiters first: an open stream would keep the HTTP server from closing, and its client comes back elsewhere.
   * Requests in hand are answered; one that takes too long is cut off.
   */
  async onModuleDestroy(): Promise<void> {
    this.unwatch();
    await this.streams.dismissAll();
    await Promise.all([this.tail.stop(), this.boardTail.stop()]);
    const server: Server = this.http.httpAdapter.getHttpServer();
    setTimeout(() => server.closeAllConnections(), this.config.shutdownMs).unref();
  }
}

function providersOf(config: GatewayConfig): Provider[] {
  return [...door(config), ...answers(config), ...streams(config), ...boards(config)];
}

function door({ rate, failures, keyCacheMs, tokens }: GatewayConfig): Provider[] {
  return [
    {
      provide: Authenticator,
      inject: [RPC_CLIENT],
      useFactory: (rpc: RpcClient) => {
        const cache = new KeyCache({ ttlMs: keyCacheMs, settleMs: SETTLE_MS, maxEntries: MAX_CACHED_KEYS });
        return new Authenticator(rpc, cache, tokens && new TokenVerifier(tokens));
      },
    },
    {
      provide: Door,
      inject: [Authenticator, TRACING],
      useFactory: (authenticator: Authenticator, tracing: Tracing) => {
        const limits = {
          requests: new RateLimiter(rate),
          failures: new RateLimiter(failures ?? FAILURES),
        };
        return new Door(routeTable(), authenticator, limits, tracing);
      },
    },
  ];
}

function answers({ publicUrl }: GatewayConfig): Provider[] {
  return [
    {
      provide: ProblemFilter,
      inject: [LOGGER],
      useFactory: (logger: Logger) => new ProblemFilter(publicUrl, logger),
    },
    { provide: APP_FILTER, useExisting: ProblemFilter },
    {
      provide: IdempotentCalls,
      inject: [DATABASE, LOGGER],
      useFactory: (db: Database, logger: Logger) => new IdempotentCalls(new KeptAnswers(db), logger),
    },
    {
      provide: APP_INTERCEPTOR,
      inject: [IdempotentCalls],
      useFactory: (calls: IdempotentCalls) => new AnswerInterceptor(calls),
    },
    { provide: ApiDescription, useFactory: () => new ApiDescription(routeTable().routes) },
    {
      provide: Services,
      inject: [RPC_CLIENT, EVENT_LOG],
      useFactory: (rpc: RpcClient, log: EventLog) => new Services(rpc, log),
    },
  ];
}

function streams(config: GatewayConfig): Provider[] {
  return [
    {
      provide: RunTail,
      inject: [EVENT_LOG, LOGGER],
      useFactory: (log: EventLog, logger: Logger) => new RunTail(log, logger),
    },
    {
      provide: RunStreams,
      inject: [EVENT_LOG, RunTail],
      useFactory: (log: EventLog, tail: RunTail) => new RunStreams(log, tail, config.streams),
    },
    {
      provide: RunEnds,
      inject: [EVENT_LOG, RunTail],
      useFactory: (log: EventLog, tail: RunTail) => new RunEnds(log, tail),
    },
    {
      provide: RunRequests,
      inject: [WORK_QUEUES, NATS_CONNECTION],
      useFactory: (queues: WorkQueues, connection: ReplyConnection) => new RunRequests(queues, connection),
    },
    { provide: NextRuns, inject: [Services], useFactory: (services: Services) => new NextRuns(services) },
    {
      provide: RunStart,
      inject: [RunRequests, Services],
      useFactory: (requests: RunRequests, services: Services) => new RunStart(requests, services),
    },
  ];
}

function boards(config: GatewayConfig): Provider[] {
  return [
    {
      provide: BOARD_TAIL,
      inject: [EVENT_LOG, LOGGER],
      useFactory: (log: EventLog, logger: Logger) => new RunTail(log, logger, undefined, BOARDS),
    },
    {
      provide: BoardStreams,
      inject: [EVENT_LOG, BOARD_TAIL, RunStreams],
      useFactory: (log: EventLog, tail: RunTail, runs: RunStreams) =>
        new BoardStreams(log, tail, runs, config.streams),
    },
  ];
}
