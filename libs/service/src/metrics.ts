import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client';

/**
 * A service's metrics in a registry of its own (several services may share a process). The members are those that
 * this library feeds; a service adds its own to `registry`.
 */
export class Metrics {
  readonly registry = new Registry();
  readonly rpcSeconds: Histogram<'method' | 'outcome'>;
  readonly rpcInHand: Gauge;
  readonly appendSeconds: Histogram<'context' | 'outcome'>;
  readonly projectorLag: Gauge<'projection'>;
  readonly projectorPosition: Gauge<'projection'>;
  readonly ready: Gauge;
  readonly loopDeaths: Counter<'loop'>;

  constructor(readonly service: string) {
    const registers = [this.registry];
    this.registry.setDefaultLabels({ service });
    this.rpcSeconds = new Histogram({
      name: 'runyard_rpc_seconds',
      help: 'Time to answer an RPC request',
      labelNames: ['method', 'outcome'],
      registers,
      buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 2, 10],
    });
    this.rpcInHand = new Gauge({
      name: 'runyard_rpc_in_hand',
      help: 'RPC requests being handled or waiting for a place',
      registers,
    });
    this.appendSeconds = new Histogram({
      name: 'runyard_append_seconds',
      help: 'Time to append a commit to the log',
      labelNames: ['context', 'outcome'],
      registers,
      buckets: [0.001, 0.002, 0.005, 0.02, 0.1, 0.5, 3],
    });
    this.projectorLag = new Gauge({
      name: 'runyard_projector_lag',
      help: 'Stream positions between a projection and the end of its stream',
      labelNames: ['projection'],
      registers,
    });
    this.projectorPosition = new Gauge({
      name: 'runyard_projector_position',
      help: 'Stream position that a projection reflects',
      labelNames: ['projection'],
      registers,
    });
    this.ready = new Gauge({ name: 'runyard_ready', help: '1 while the service is ready', registers });
    this.loopDeaths = new Counter({
      name: 'runyard_loop_deaths_total',
      help: 'Background loops that ended without being asked to',
      labelNames: ['loop'],
      registers,
    });
  }

  /** Adds event loop, memory and CPU of the process: once a process, so only where a service has one to itself. */
  collectProcess(): void {
    collectDefaultMetrics({ register: this.registry });
  }
}
