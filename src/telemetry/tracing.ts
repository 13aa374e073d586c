import {
  context,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  TraceFlags,
  type Attributes,
  type Context,
  type Span,
} from '@opentelemetry/api';

// Uses the OpenTelemetry API only: without an SDK in the process no span is created and calls go straight through. Spans
// contain
// operation names, commands and counts, but never readers, variables or texts, since traces are stored elsewhere.

/** A span ended explicitly by its owner. Both methods are idempotent. */
export interface OpenSpan {
  end(): void;
  fail(error: unknown): void;
}

export interface EntryOptions {
  /** W3C traceparent of the caller. `null` or malformed: starts a new trace. */
  readonly parent: string | null;
  /** `server`: a client waits for the result. `consumer`: deferred work. */
  readonly kind: 'server' | 'consumer';
  readonly attributes: Attributes;
  /** On the `performance.now()` clock. Default: now. */
  readonly startedAt?: number;
}

/** Runs a function inside a child span of the active trace; without one, runs it without a span. */
export function traced<T>(name: string, attributes: Attributes, run: () => T): T {
  if (!isTraced()) return run();
  const span = tracer().startSpan(name, { attributes });
  return context.with(trace.setSpan(context.active(), span), () => ended(span, run));
}

/** Runs a function in a root span of this process, as part of the given trace or of a new one. */
export function tracedEntry<T>(
  name: string,
  { parent, kind, attributes, startedAt }: EntryOptions,
  run: () => T,
): T {
  const from = contextOf(parent) ?? ROOT_CONTEXT;
  const startTime = startedAt === undefined ? {} : { startTime: performance.timeOrigin + startedAt };
  const span = tracer().startSpan(name, { kind: KINDS[kind], attributes, ...startTime }, from);
  if (!span.isRecording()) return run();
  return context.with(trace.setSpan(from, span), () => ended(span, run));
}

/** Starts a span for a call to another system that is ended elsewhere. `null` without an active trace. */
export function openClientSpan(name: string, attributes: () => Attributes): OpenSpan | null {
  if (!isTraced()) return null;
  const span = tracer().startSpan(name, { kind: SpanKind.CLIENT, attributes: attributes() });
  return {
    end: () => span.end(),
    fail: (error) => fail(span, error),
  };
}

/** Traceparent of the active span, to be stored with deferred work. `null` without one. */
export function traceParent(): string | null {
  const span = trace.getActiveSpan();
  if (span?.isRecording() !== true) return null;
  const { traceId, spanId, traceFlags } = span.spanContext();
  return (traceFlags & TraceFlags.SAMPLED) === 0 ? null : `00-${traceId}-${spanId}-01`;
}

const KINDS = { server: SpanKind.SERVER, consumer: SpanKind.CONSUMER } as const;

function tracer() {
  return trace.getTracer('fanfare');
}

function isTraced(): boolean {
  return trace.getActiveSpan()?.isRecording() === true;
}

const TRACE_PARENT = /^[\da-f]{2}-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:-|$)/;

function contextOf(parent: string | null): Context | null {
  const [, traceId = '', spanId = '', flags = ''] = TRACE_PARENT.exec(parent ?? '') ?? [];
  const spanContext = { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
  return trace.isSpanContextValid(spanContext) ? trace.setSpanContext(ROOT_CONTEXT, spanContext) : null;
}

function ended<T>(span: Span, run: () => T): T {
  let result: T;
  try {
    result = run();
  } catch (error) {
    fail(span, error);
    throw error;
  }
  if (!(result instanceof Promise)) {
    span.end();
    return result;
  }
  return result.then(
    (value: unknown) => {
      span.end();
      return value;
    },
    (error: unknown) => {
      fail(span, error);
      throw error;
    },
  ) as T;
}

/** Records class and code of the error only: its message may contain names. */
function fail(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const type = error instanceof Error ? error.name : typeof error;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', code ?? type);
  span.end();
}
