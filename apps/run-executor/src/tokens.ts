/** Injection tokens of the executor's own parts. */
export const RUN_CONTROLS = Symbol('RUN_CONTROLS');
export const EXECUTOR = Symbol('EXECUTOR');
export const EXECUTOR_CONFIG = Symbol('EXECUTOR_CONFIG');
export const RUN_QUERIES = Symbol('RUN_QUERIES');
export const BULK_PORTS = Symbol('BULK_PORTS');
