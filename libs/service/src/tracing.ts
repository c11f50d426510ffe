import { ROOT_CONTEXT, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import { currentContext, withContext } from './request-context';

const KINDS = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
  producer: SpanKind.PRODUCER,
  internal: SpanKind.INTERNAL,
} as const;

export interface SpanFacts {
  kind: keyof typeof KINDS;
  attributes?: Attributes;
  /** W3C traceparent of what led to this; default: that of the work in hand. */
  parent?: string;
}

/** A span that has begun. Where nobody collects traces it costs nothing and hands its parent's trace on. */
export interface OpenSpan {
  /** What this span passes on to those it calls. */
  readonly traceparent: string | undefined;
  set(attributes: Attributes): void;
  /** `type`: a code of low cardinality, such as a problem's. */
  fail(type: string): void;
  end(): void;
}

/**
 * OpenTelemetry traces of a service. Trace ids travel as W3C traceparent in HTTP headers, RPC requests, queue messages and
 * events, so that a run's spans join over all services and executors that had a part in it.
 */
export class Tracing {
  /** For where nobody collects. */
  static readonly off = new Tracing(null);

  constructor(
    private readonly tracer: Tracer | null,
    private readonly shutDown: () => Promise<void> = async () => undefined,
  ) {}

  get on(): boolean {
    return this.tracer !== null;
  }

  /** Begins a span; its owner ends it. */
  open(name: string, { kind, attributes, parent = currentContext()?.traceparent }: SpanFacts): OpenSpan {
    if (!this.tracer) return unrecorded(parent);
    const span = this.tracer.startSpan(name, { kind: KINDS[kind], attributes }, contextOf(parent));
    return {
      traceparent: traceparentOf(span),
      set: (more) => void span.setAttributes(more),
      fail: (type) => {
        span.setAttribute('error.type', type);
        span.setStatus({ code: SpanStatusCode.ERROR, message: type });
      },
      end: () => span.end(),
    };
  }

  /** Does work in a span; what it throws is recorded by its code or name, never by its text. */
  async within<T>(name: string, facts: SpanFacts, work: (span: OpenSpan) => Promise<T>): Promise<T> {
    const span = this.open(name, facts);
    try {
      return await withContext({ traceparent: span.traceparent }, () => work(span));
    } catch (error) {
      span.fail(typeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** Sends what has not been sent yet. */
  stop(): Promise<void> {
    return this.shutDown();
  }
}

const unrecorded = (traceparent: string | undefined): OpenSpan => ({
  traceparent,
  set: () => undefined,
  fail: () => undefined,
  end: () => undefined,
});

const TRACEPARENT = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

function contextOf(traceparent: string | undefined): Context {
  const [, traceId, spanId, flags] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  if (!traceId || !spanId || !flags) return ROOT_CONTEXT;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function typeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'error';
  const code: unknown = Reflect.get(error, 'code');
  if (typeof code === 'string') return code;
  return error instanceof Error ? error.name : 'error';
}
