import Negotiator from 'negotiator';
import { drainOf } from '../server/drain.ts';
import { type Exchange, headerOf } from '../server/exchange.ts';
import { leaseToWait, type WaitingLeases } from './waiting-leases.ts';

/** The part of a request that may wait for something, or stream (contract: Waiting and streaming). */
export interface WaitingRequest {
  /** The client gets a stream: it asks for server-sent events, or the response has lines. */
  readonly wantsStream: boolean;
  /** Of a stream that is resumed: the `id` of the last event that the client has received. */
  readonly lastEventId: string | undefined;
  /** False for HEAD, whose response has nothing to wait for. */
  readonly mayWait: boolean;
  /** Aborted when the wait has to end: the client has gone, the server stops, or the stream's time is over. */
  readonly signal: AbortSignal;
  /**
   * Begins the wait: takes one of the workspace's places until the response is closed, and tells the gateway, which
   * counts the request as waiting from now on.
   * @throws DomainError `rate_limited` or `service_unavailable` if there is no place
   */
  begin(): void;
}

export const EVENT_STREAM = 'text/event-stream';
export const LAST_EVENT_ID_HEADER = 'Last-Event-ID';

/**
 * Milliseconds after which a stream ends and the client opens another one: below the two minutes after which the
 * gateway and other proxies cut off any response. A random part keeps streams that began together from ending together.
 */
export const STREAM_LIFETIME = { least: 90_000, random: 15_000 };

export function openWaitingRequest(
  exchange: Exchange,
  { stream, lines }: { readonly stream?: unknown; readonly lines?: unknown },
  options: { workspaceId: number; places: WaitingLeases; lifetime: { least: number; random: number } },
): WaitingRequest {
  const { request, response } = exchange;
  const { places, workspaceId, lifetime } = options;
  const over = new AbortController();
  const end = () => over.abort();
  const mayWait = request.method !== 'HEAD';
  const wantsStream =
    mayWait &&
    // With lines, the response is always a stream.
    (lines !== undefined ||
      (stream !== undefined && new Negotiator(request).mediaType(['application/json', EVENT_STREAM]) === EVENT_STREAM));
  const lastEventId = headerOf(request, LAST_EVENT_ID_HEADER.toLowerCase());
  let hasBegun = false;
  return {
    wantsStream,
    lastEventId: wantsStream && lastEventId !== '' ? lastEventId : undefined,
    mayWait,
    signal: over.signal,
    begin: () => {
      if (hasBegun) return;
      hasBegun = true;
      const lease = leaseToWait(places, workspaceId);
      const ignoreDrain = drainOf(request).onBegin(end);
      const timer = wantsStream ? setTimeout(end, lifetime.least + Math.random() * lifetime.random) : undefined;
      const close = () => {
        lease.release();
        ignoreDrain();
        clearTimeout(timer);
        end();
      };
      if (response.destroyed) close();
      else response.once('close', close);
      exchange.waitingSince = performance.now();
      // HTTP/1.0 has no interim responses. Lines begin at once, and their media type tells the gateway.
      if (request.httpVersionMinor >= 1 && lines === undefined) response.writeProcessing();
    },
  };
}
