/** Injection tokens of what ServiceModule provides. Symbols, so that no string of another library can collide. */
export const SERVICE_NAME = Symbol('SERVICE_NAME');
export const SERVICE_CONFIG = Symbol('SERVICE_CONFIG');
export const EVENT_LOG = Symbol('EVENT_LOG');
export const WORK_QUEUES = Symbol('WORK_QUEUES');
export const NATS_CONNECTION = Symbol('NATS_CONNECTION');
export const DATABASE = Symbol('DATABASE');
export const RPC_CLIENT = Symbol('RPC_CLIENT');
export const LOGGER = Symbol('LOGGER');
export const METRICS = Symbol('METRICS');
export const TRACING = Symbol('TRACING');
/** The connections behind the tokens above; closed last, by the module alone. */
export const RESOURCES = Symbol('RESOURCES');
export const SERVICE_OPTIONS = Symbol('SERVICE_OPTIONS');
