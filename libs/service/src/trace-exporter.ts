import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { SpanProcessor } from '@opentelemetry/sdk-trace';
import { Tracing } from './tracing';

export interface TraceConfig {
  /** Where spans are sent by OTLP over HTTP: the collector's address for traces. */
  url: string;
  /** Share of traces that begin here and are recorded, 0 to 1; one that began elsewhere is recorded if it was there. */
  ratio: number;
}

/** Traces of a service: sent in batches in the background, or to `processor` (tests collect in memory). */
export function tracingTo(
  service: string,
  { url, ratio }: TraceConfig,
  processor: SpanProcessor = new BatchSpanProcessor({ exporter: new OTLPTraceExporter({ url }) }),
): Tracing {
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'runyard' }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(ratio) }),
    spanProcessors: [processor],
  });
  return new Tracing(provider.getTracer('runyard'), () => provider.shutdown());
}
