import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Attributes, type Context, markFailed, recordedSpan, startRequestSpan } from '@tocsin/runtime';
import { pathOf } from './exchange.ts';
import { requestIdOf } from './request-id.ts';

/** The methods that spans name; the names of others are up to the client. */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method as the name of a span begins with it, and as its attribute. */
const methodsOf = ({ method = '' }: IncomingMessage) =>
  METHODS.has(method) ? { name: method, attribute: method } : { name: 'HTTP', attribute: '_OTHER' };

/** What is known about a request at its end. */
export interface EndedRequest {
  /** The template of the path; undefined if no operation matches. */
  route: string | undefined;
  attributes?: Attributes;
}

/**
 * Starts the span of a request, which ends when the response is closed.
 * @param options.isTrusted whether the sender may decide if the trace is recorded
 * @param options.atEnd called then, if the span is recorded
 * @returns the context to handle the request in; undefined if there is no trace
 */
export function traceRequest(
  request: IncomingMessage,
  response: ServerResponse,
  options: { isTrusted: boolean; atEnd: () => EndedRequest },
): Context | undefined {
  const { name, attribute } = methodsOf(request);
  const context = startRequestSpan(name, request.headers, options);
  const span = context === undefined ? undefined : recordedSpan(context);
  if (span === undefined) return context;
  const path = pathOf(request);
  response.once('close', () => {
    const { route, attributes } = options.atEnd();
    if (route !== undefined) span.updateName(`${name} ${route}`).setAttribute('http.route', route);
    span.setAttributes({
      'http.request.method': attribute,
      'url.scheme': 'http',
      // Of an unknown path nobody knows what it contains.
      ...(route !== undefined && { 'url.path': path }),
      ...attributes,
    });
    if (response.headersSent) span.setAttribute('http.response.status_code', response.statusCode);
    if (response.statusCode >= 500) markFailed(span, String(response.statusCode));
    span.end();
  });
  return context;
}

/** The trace of a request for this route from the gateway or another service, which has begun or continued it. */
export const traceForwarded = (request: IncomingMessage, response: ServerResponse, route: string) =>
  traceRequest(request, response, {
    isTrusted: true,
    atEnd: () => ({ route, attributes: { 'tocsin.request_id': requestIdOf(request) } }),
  });
