import {
  type Attributes,
  type Context,
  context,
  INVALID_SPAN_CONTEXT,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import { contextOfHeaders, untrusted } from './trace-context.ts';

export type { Attributes, Context, Span } from '@opentelemetry/api';

/**
 * Spans cost nothing while no SDK runs: then the tracer returns spans that record nothing, and attributes, which are
 * functions here, are not computed. A span without a recorded parent is not started either, except for a request: so
 * background polling makes no traces.
 */
const tracer = trace.getTracer('tocsin');

const KINDS = {
  internal: { kind: SpanKind.INTERNAL },
  server: { kind: SpanKind.SERVER },
  client: { kind: SpanKind.CLIENT },
  producer: { kind: SpanKind.PRODUCER },
  consumer: { kind: SpanKind.CONSUMER },
} as const;

/** A span to start. Names and attributes follow OpenTelemetry's semantic conventions; never a secret, body or query. */
export interface SpanSpec {
  name: string;
  kind: keyof typeof KINDS;
  attributes?: () => Attributes;
}

/**
 * Starts the span of a request that has arrived, as a child of the one that its headers name.
 * @param isTrusted whether the sender may decide if the trace is recorded
 * @returns the context to handle the request in; undefined if there is neither an SDK nor a trace of the sender
 */
export function startRequestSpan(
  name: string,
  headers: Readonly<Record<string, unknown>>,
  { isTrusted }: { isTrusted: boolean },
): Context | undefined {
  const parent = contextOfHeaders(headers['traceparent'], headers['tracestate']);
  const from = parent === undefined || isTrusted ? parent : untrusted(parent);
  const span = tracer.startSpan(name, KINDS.server, from ?? ROOT_CONTEXT);
  return span.spanContext() === INVALID_SPAN_CONTEXT ? undefined : trace.setSpan(ROOT_CONTEXT, span);
}

/** The span of a context (default: of the current code), if it is recorded. */
export function recordedSpan(of: Context = context.active()): Span | undefined {
  const span = trace.getSpan(of);
  return span?.isRecording() === true ? span : undefined;
}

/** Starts a child of the current span; undefined if that is not recorded. The caller ends it. */
export function startSpan(spec: SpanSpec): Span | undefined {
  const active = context.active();
  return recordedSpan(active) === undefined ? undefined : start(spec, active);
}

/**
 * Starts a child of a span in another process.
 * @returns the context of the new span, or `parent` itself if no span is recorded
 */
export function startSpanIn(parent: Context, spec: SpanSpec): Context {
  return trace.setSpan(parent, start(spec, parent));
}

function start({ name, kind, attributes }: SpanSpec, parent: Context): Span {
  const span = tracer.startSpan(name, KINDS[kind], parent);
  if (attributes !== undefined && span.isRecording()) span.setAttributes(attributes());
  return span;
}

/**
 * The span of an HTTP request to a URL.
 * @param path the URL's path, if it may be recorded and is one of few; the query never is recorded
 */
export const requestSpan = (method: string, { protocol, host, hostname, port }: URL, path = ''): SpanSpec => ({
  name: path === '' ? method : `${method} ${path}`,
  kind: 'client',
  attributes: () => ({
    'http.request.method': method,
    'url.full': `${protocol}//${host}${path}`,
    'server.address': hostname,
    'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
  }),
});

/** Runs `work` in a child of the current span, which ends with it. `span` is undefined if it is not recorded. */
export async function inSpan<Result>(
  spec: SpanSpec,
  work: (span: Span | undefined) => Promise<Result>,
): Promise<Result> {
  const span = startSpan(spec);
  if (span === undefined) return work(undefined);
  try {
    return await context.with(trace.setSpan(context.active(), span), async () => work(span));
  } catch (error) {
    markFailed(span, error);
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed. Of an error only the code or the name is recorded: its message may quote what a client sent. */
export function markFailed(span: Span, error: unknown): void {
  span.setAttribute('error.type', typeof error === 'string' ? error : errorType(error));
  span.setStatus({ code: SpanStatusCode.ERROR });
}

function errorType(error: unknown): string {
  const { code, status, name } = (error ?? {}) as { code?: unknown; status?: unknown; name?: unknown };
  for (const type of [code, typeof status === 'number' ? String(status) : status, name])
    if (typeof type === 'string' && /^\w{1,64}$/.test(type)) return type;
  return '_OTHER';
}
