import type { IncomingMessage, ServerResponse } from 'node:http';
import { hasBody, isRead, shareExceeded } from '@tocsin/http';
import {
  FairQueue,
  inSpan,
  type Lease,
  LimitReached,
  markFailed,
  type Span,
  type SpanSpec,
  traceHeaders,
} from '@tocsin/runtime';
import { forwardedHeaders } from '../../upstreams/clients/forwarded-headers.ts';
import type { Upstream, Wait } from '../../upstreams/clients/upstream.ts';
import { overloaded } from '../../upstreams/domain/overload.ts';
import { type Operation, OWN_SERVICE } from '../../routes/domain/route-table.ts';
import type { Shares } from '../../limits/domain/shares.ts';
import { type BodyReader, bodyReader, type ReceivedBody } from './body-reader.ts';
import type { Caller } from '../../identity/http/identities.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import type { KeyWatch } from './key-watch.ts';
import type { UsageMeter } from '../../limits/http/usage-meter.ts';
import type { WrittenBytes } from '../../limits/http/written-bytes.ts';
import type { WaitingRequests } from './waiting-requests.ts';

/** Sends a checked request to its service, when its body has arrived and it is its workspace's turn. */
export interface Forwarder {
  /** Resolves when the response has begun or the request was given up. @throws DomainError if it was not served */
  forward(context: RequestContext, caller: Caller, operation: Operation): Promise<void>;
}

interface Parts {
  /** By the names of the services in the route table. */
  upstreams: ReadonlyMap<string, Upstream>;
  shares: Shares;
  waiting: WaitingRequests;
  keys: KeyWatch;
  meter: UsageMeter;
  written: WrittenBytes;
}

export function forwarder({ shares, keys, ...parts }: Parts): Forwarder {
  const bodyBytes = new FairQueue<number>({
    all: shares.bodyBytes,
    holder: shares.bodyBytesPerWorkspace,
    leavesAsMuch: true,
  });
  const bodies = bodyReader(bodyBytes, { times: shares.body, maxBytes: shares.maxBodyBytes, holder: 'workspace' });
  /** By the ID of their workspace, as those of each service. */
  const requests = new FairQueue<number>({ holder: shares.requestsPerWorkspace, ...waitsOf(shares) });
  const send = serviceSender({ shares, ...parts });

  return {
    forward: async (context, caller, operation) => {
      const { request, response } = context;
      const { workspace } = caller.identity;
      const signal = keys.enter(context, caller, operation);
      const body =
        context.body === undefined
          ? await receiveBody(bodies, request, { workspaceId: workspace.id, limit: operation.bodyBytes })
          : bodies.hold(context.body, workspace.id);
      // The client has gone.
      if (body === undefined) return;
      context.bodyBytes = body.bytes?.length ?? 0;
      try {
        const until = performance.now() + shares.wait;
        const lease = await takeLease(requests, context, workspace.id, shares.wait);
        if (lease === 'gone') return;
        if (lease === 'holder' || lease === 'all') throw tooManyUnderWay(shares.requestsPerWorkspace);
        try {
          await send(context, caller, { operation, body, until, lease, signal });
        } finally {
          // A write of a client that has gone has its lease until the service has responded.
          releaseWhenClosed(response, lease);
        }
      } finally {
        body.release();
      }
    },
  };
}

const waitsOf = ({ requestsPerWorkspace, wait }: Shares) => ({ waiting: requestsPerWorkspace, wait });

interface SendOptions {
  operation: Operation;
  body: ReceivedBody;
  /** When the wait for leases ends; the clock of `performance`. */
  until: number;
  /** The one of the workspace. */
  lease: Lease;
  signal: AbortSignal;
}

/** Sends a request whose turn it is among those of its workspace, when it is its turn at its service, too. */
function serviceSender({
  upstreams,
  shares,
  waiting,
  meter,
  written,
}: Omit<Parts, 'keys'>): (context: RequestContext, caller: Caller, options: SendOptions) => Promise<void> {
  const services = new Map(
    [...upstreams].map(([name, upstream]) => {
      const leases = new FairQueue<number>({ all: shares.requestsPerService, leavesAsMuch: true, ...waitsOf(shares) });
      return [name, { name, upstream, leases }];
    }),
  );
  return async (context, caller, options) => {
    const { request, response, requestId, target } = context;
    const { operation, body, until, lease, signal } = options;
    const { workspace } = caller.identity;
    const service = services.get(operation.service);
    if (service === undefined) throw new Error(`there is no address of the ${operation.service} service`);
    const serviceLease = await takeLease(service.leases, context, workspace.id, until - performance.now());
    if (serviceLease === 'all') throw overloaded(`The ${service.name} service has too many requests`, 'service_busy');
    if (serviceLease === 'holder') throw tooManyUnderWay(service.leases.heldBy(workspace.id));
    if (serviceLease === 'gone') return;
    try {
      // The key may have ended while the request waited.
      signal.throwIfAborted();
      const maxBytes = operation.bodyBytes ?? shares.maxBodyBytes;
      const bodyLength = isRead(request) ? undefined : (body.bytes?.length ?? 0);
      const gatewayHeaders = {
        principal: caller.principalFor(operation.service),
        requestId,
        bodyLength,
        bodyLimit: (bodyLength ?? 0) > maxBytes ? maxBytes : undefined,
      };
      request.url = target.path + target.search;
      const { deadline, wait } = operation;
      const onWait = (begun: Wait) => {
        waiting.enter({ context, workspaceId: workspace.id, wait: begun });
        serviceLease.release();
        lease.release();
      };
      await inSpan(forwardSpan(context, operation), async (span) => {
        request.headers = forwardedHeaders(request.headers, { ...gatewayHeaders, trace: traceHeaders() });
        await service.upstream.forward({
          request,
          response,
          body: body.bytes,
          deadline,
          onWait: wait === undefined ? undefined : onWait,
          // Its commands look up who acts themselves, and may end the key of their own request.
          signal: operation.service === OWN_SERVICE ? undefined : signal,
          onUsage: ({ cost, fetchedBytes }) => {
            if (cost > 0) meter.addCost(workspace.id, cost);
            if (fetchedBytes > 0) written.add(workspace.id, fetchedBytes);
          },
        });
        if (span !== undefined && !response.destroyed) recordStatus(span, response.statusCode);
      });
    } finally {
      serviceLease.release();
    }
  };
}

/** The span of the gateway's own request to a service; it ends when the response has begun. */
const forwardSpan = ({ method, target }: RequestContext, { service, path }: Operation): SpanSpec => ({
  name: `${method} ${path}`,
  kind: 'client',
  attributes: () => ({
    'http.request.method': method,
    'url.template': path,
    'url.path': target.path,
    'server.service.name': `tocsin-${service}`,
  }),
});

/** A 4xx is no failure of this request: the client gets it as it is. */
function recordStatus(span: Span, status: number): void {
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) markFailed(span, String(status));
}

/** Returns the lease of a request, or the limit that it has reached in vain. */
async function takeLease(
  leases: FairQueue<number>,
  { response }: RequestContext,
  workspaceId: number,
  wait: number,
): Promise<Lease | LimitReached['limit']> {
  try {
    const lease = await leases.take(workspaceId, { wait, isGone: () => response.destroyed });
    if (!response.destroyed) return lease;
    lease.release();
    return 'gone';
  } catch (error) {
    if (error instanceof LimitReached) return error.limit;
    throw error;
  }
}

function releaseWhenClosed(response: ServerResponse, lease: Lease): void {
  if (response.destroyed) lease.release();
  else response.on('close', () => lease.release());
}

const NO_BODY: ReceivedBody = { bytes: undefined, release: () => undefined };

/** Resolves with `undefined` if the client has gone. */
async function receiveBody(
  bodies: BodyReader<number>,
  request: IncomingMessage,
  { workspaceId, limit }: { workspaceId: number; limit: number | undefined },
): Promise<ReceivedBody | undefined> {
  if (!hasBody(request)) return NO_BODY;
  if (!isRead(request)) return bodies.read(request, workspaceId, limit);
  // The body of a read means nothing.
  request.resume();
  return NO_BODY;
}

const tooManyUnderWay = (count: number) =>
  shareExceeded(`At least ${count} requests of this workspace are under way: wait for their responses`, {
    reason: 'requests_in_flight',
  });
