import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/** Bucket borders in seconds: an append takes milliseconds where all is well, an RPC up to its time-out where it is not. */
const APPEND_BUCKETS = [0.001, 0.002, 0.005, 0.02, 0.1, 0.5, 3];
const RPC_BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10];

/**
 * A service's metrics in a registry of its own (several services may share a process). The members are those that
 * this library feeds; a service adds its own to `registry`.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly rpcSeconds = this.histogram(
    'runyard_rpc_seconds',
    'Time to answer an RPC request',
    ['method', 'outcome'],
    RPC_BUCKETS,
  );
  readonly rpcInHand = this.gauge(
    'runyard_rpc_in_hand',
    'RPC requests being handled or waiting for a place',
    [],
  );
  readonly appendSeconds = this.histogram(
    'runyard_append_seconds',
    'Time to append a commit to the log',
    ['context', 'outcome'],
    APPEND_BUCKETS,
  );
  readonly projectorLag = this.gauge(
    'runyard_projector_lag',
    'Stream positions between a projection and the end of its stream',
    ['projection'],
  );
  readonly projectorPosition = this.gauge(
    'runyard_projector_position',
    'Stream position that a projection reflects',
    ['projection'],
  );
  readonly ready = this.gauge('runyard_ready', '1 while the service is ready', []);
  readonly loopDeaths = new Counter({
    name: 'runyard_loop_deaths_total',
    help: 'Background loops that ended without being asked to',
    labelNames: ['loop'],
    registers: [this.registry],
  });

  constructor(readonly service: string) {
    this.registry.setDefaultLabels({ service });
  }

  /** Adds event loop, memory and CPU of the process: once a process, so only where a service has one to itself. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }

  private gauge<L extends string>(name: string, help: string, labelNames: L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames, registers: [this.registry] });
  }

  private histogram<L extends string>(
    name: string,
    help: string,
    labelNames: L[],
    buckets: number[],
  ): Histogram<L> {
    return new Histogram({ name, help, labelNames, buckets, registers: [this.registry] });
  }
}
