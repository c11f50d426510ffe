import { InMemorySpanExporter, SimpleSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ReadableSpan } from '@opentelemetry/sdk-trace';
import { Tracing } from '@runyard/service';

/** Traces that stay in memory. */
export function collectedSpans(): { tracing: Tracing; spans: () => ReadableSpan[] } {
  const exporter = new InMemorySpanExporter();
  const provider = new TracerProvider({ spanProcessors: [new SimpleSpanProcessor({ exporter })] });
  return { tracing: new Tracing(provider.getTracer('test')), spans: () => exporter.getFinishedSpans() };
}
