import {
  type Context,
  context,
  createContextKey,
  ROOT_CONTEXT,
  type SpanContext,
  trace,
  TraceFlags,
} from '@opentelemetry/api';
import { parseTraceState } from './trace-state.ts';

/** The position in a trace as the W3C's headers say it. */
export interface TraceHeaders {
  traceparent: string;
  tracestate?: string;
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** Characters; later versions of the format may have more than the 55 of the present one. */
const MAX_TRACEPARENT = 256;

const UNTRUSTED = createContextKey('tocsin: the parent is of a client');

/**
 * Reads the headers of a request or message. What is malformed counts as missing: the sender must not be able to break
 * anything with it.
 * @returns undefined without a valid `traceparent`
 */
export function contextOfHeaders(traceparent: unknown, tracestate: unknown): Context | undefined {
  if (typeof traceparent !== 'string' || traceparent.length > MAX_TRACEPARENT) return undefined;
  const [, version, traceId = '', spanId = '', flags = '', suffix] = TRACEPARENT.exec(traceparent) ?? [];
  if (version === undefined || version === 'ff' || (version === '00' && suffix !== undefined)) return undefined;
  const traceState = parseTraceState(tracestate);
  const parent: SpanContext = {
    traceId,
    spanId,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
    isRemote: true,
    ...(traceState !== undefined && { traceState }),
  };
  return trace.isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : undefined;
}

/** Marks the context of a client's request: the client must not decide what is recorded. */
export const untrusted = (parent: Context): Context => parent.setValue(UNTRUSTED, true);

export const isUntrusted = (parent: Context): boolean => parent.getValue(UNTRUSTED) === true;

/** The headers that continue the trace of the current code elsewhere; undefined outside of a trace. */
export function traceHeaders(of: Context = context.active()): TraceHeaders | undefined {
  const span = trace.getSpanContext(of);
  if (span === undefined || !trace.isSpanContextValid(span)) return undefined;
  const traceparent = `00-${span.traceId}-${span.spanId}-${(span.traceFlags & TraceFlags.SAMPLED) === 0 ? '00' : '01'}`;
  const tracestate = span.traceState?.serialize();
  return tracestate === undefined || tracestate === '' ? { traceparent } : { traceparent, tracestate };
}

/**
 * The headers as one text of at most 568 characters, for a column: `traceparent`, and `tracestate` after a space. Null
 * outside of a trace.
 */
export function storableTrace(of?: Context): string | null {
  const headers = traceHeaders(of);
  if (headers === undefined) return null;
  return headers.tracestate === undefined ? headers.traceparent : `${headers.traceparent} ${headers.tracestate}`;
}

/** Reads what `storableTrace` returned. */
export function contextOfStored(stored: string | null | undefined): Context | undefined {
  if (stored === null || stored === undefined) return undefined;
  const { traceparent, tracestate } = headersOfStored(stored);
  return contextOfHeaders(traceparent, tracestate);
}

/** Converts what `storableTrace` returned into headers; null has none. */
export function headersOfStored(stored: string): TraceHeaders;
export function headersOfStored(stored: string | null): TraceHeaders | Record<string, never>;
export function headersOfStored(stored: string | null): TraceHeaders | Record<string, never> {
  if (stored === null) return {};
  const space = stored.indexOf(' ');
  return space === -1
    ? { traceparent: stored }
    : { traceparent: stored.slice(0, space), tracestate: stored.slice(space + 1) };
}

/** What log lines say about the trace of the current code. */
export interface TraceLogFields {
  trace_id?: string;
  /** Only of a span of this process. */
  span_id?: string;
}

export function traceLogFields(of: Context = context.active()): TraceLogFields {
  const span = trace.getSpanContext(of);
  if (span === undefined || !trace.isSpanContextValid(span)) return {};
  return span.isRemote === true ? { trace_id: span.traceId } : { trace_id: span.traceId, span_id: span.spanId };
}

/** Runs `work` and everything that it calls and awaits in a context; without one, in the present one. */
export const runInContext = <Result>(of: Context | undefined, work: () => Result): Result =>
  of === undefined ? work() : context.with(of, work);
