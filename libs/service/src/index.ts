export { bootstrap, opsTargetOf, startService } from './bootstrap';
export type { StartOptions } from './bootstrap';
export { ConfigError, readConfig, readEnv, serviceEnv, traceEnv, tracesOf } from './config';
export type { Env, ServiceConfig } from './config';
export { Health } from './health';
export type { CheckReport, Fault, Part, Probe, ReadyReport } from './health';
export { createLogger, nestLogger, scrub } from './logger';
export type { Logger } from './logger';
export { Loops, pause } from './loops';
export { Metrics } from './metrics';
export { OpsServer } from './ops-server';
export type { OpsTarget } from './ops-server';
export { problemOf, toProblem } from './problem.adapter';
export { ProjectorHost } from './projector-host';
export type { ProjectorSettings } from './projector-host';
export { REACTION_BATCH, buryCommit, isWorthRepeating, onEach, reactionProjection } from './reaction';
export type { Reaction } from './reaction';
export { commitMeta, currentContext, newTraceparent, withContext } from './request-context';
export type { RequestContext } from './request-context';
export { NatsRpcClient } from './rpc-client';
export { RpcMethod } from './rpc-method';
export { RpcServer } from './rpc-server';
export { ServiceModule } from './service.module';
export type { ServiceOptions } from './options';
export {
  DATABASE,
  EVENT_LOG,
  LOGGER,
  METRICS,
  NATS_CONNECTION,
  RPC_CLIENT,
  SERVICE_CONFIG,
  SERVICE_NAME,
  TRACING,
  WORK_QUEUES,
} from './tokens';
export { Tracing } from './tracing';
export type { OpenSpan, SpanFacts } from './tracing';
export * from './types';
