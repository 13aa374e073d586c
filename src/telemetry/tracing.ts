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

// Spans by the API of OpenTelemetry alone. Without an SDK in the process there is no active span, and what is here calls
// straight on. Spans name operations, commands and counts, never readers, variables or texts: traces are kept elsewhere.

/** A span that is ended by its owner. Both do nothing the second time. */
export interface OpenSpan {
  end(): void;
  fail(error: unknown): void;
}

export interface EntryOptions {
  /** A traceparent of W3C Trace Context; null: a trace of its own begins. One that cannot be read counts as null. */
  readonly parent: string | null;
  /** `server`: somebody waits for it. `consumer`: it was left for later. */
  readonly kind: 'server' | 'consumer';
  readonly attributes: Attributes;
  /** By `performance.now()`. Default: now. */
  readonly startedAt?: number;
}

/** Runs something as a part of the trace that is under way; outside of one it is not recorded. */
export function traced<T>(name: string, attributes: Attributes, run: () => T): T {
  if (!isTraced()) return run();
  const span = tracer().startSpan(name, { attributes });
  return context.with(trace.setSpan(context.active(), span), () => ended(span, run));
}

/** Runs something with which a process enters a trace: one of its own, or one that another process began. */
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

/** A span for a call to another system that begins now and ends elsewhere in the code. Null outside of a trace. */
export function openClientSpan(name: string, attributes: () => Attributes): OpenSpan | null {
  if (!isTraced()) return null;
  const span = tracer().startSpan(name, { kind: SpanKind.CLIENT, attributes: attributes() });
  return {
    end: () => {
      span.end();
    },
    fail: (error) => {
      fail(span, error);
    },
  };
}

/** The traceparent of what is under way, to be kept with work that is left for later. Null outside of a trace. */
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

/** Of an error its class and code: a message may name people. */
function fail(span: Span, error: unknown): void {
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  const type = error instanceof Error ? error.name : typeof error;
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttribute('error.type', code ?? type);
  span.end();
}
