import type { IncomingMessage, ServerResponse } from 'node:http';
import { shareExceeded } from '@tocsin/http';
import { fairShares, inSpan, markFailed, type Span, type SpanSpec, traceHeaders } from '@tocsin/runtime';
import { forwardedHeaders } from '../clients/forwarded-headers.ts';
import { isRead, type Upstream, type Wait } from '../clients/upstream.ts';
import { overloaded } from '../domain/overload.ts';
import type { Operation } from '../domain/route-table.ts';
import type { Shares } from '../domain/shares.ts';
import { type BodyReader, bodyReader, type ReceivedBody } from './body-reader.ts';
import type { Caller } from './identities.ts';
import { hasBody, type RequestContext } from './request-context.ts';
import { type Release, slotPool } from './slot-pool.ts';
import type { UsageMeter } from './usage-meter.ts';
import type { WaitingRequests } from './waiting-requests.ts';

/** Sends a checked request to its service, when its body has arrived and it is its workspace's turn. */
export interface Forwarder {
  /** Resolves when the response has begun or the request was given up. @throws DomainError if it was not served */
  forward(context: RequestContext, caller: Caller, operation: Operation): Promise<void>;
}

/** @param options `upstreams` are by the names of the services in the route table */
export function forwarder({
  upstreams,
  shares,
  waiting,
  meter,
}: {
  upstreams: ReadonlyMap<string, Upstream>;
  shares: Shares;
  waiting: WaitingRequests;
  meter: UsageMeter;
}): Forwarder {
  const bodies = bodyReader(fairShares({ total: shares.bodyBytes, perHolder: shares.bodyBytesPerWorkspace }), {
    times: shares.body,
    maxBytes: shares.maxBodyBytes,
  });
  const maxWaiting = shares.requestsPerWorkspace;
  const workspaceSlots = slotPool({
    shares: fairShares({ total: Infinity, perHolder: shares.requestsPerWorkspace }),
    maxWaiting,
  });
  const services = new Map(
    [...upstreams].map(([name, upstream]) => {
      const serviceShares = fairShares({ total: shares.requestsPerService, perHolder: Infinity });
      const slots = slotPool({ shares: serviceShares, maxWaiting });
      return [name, { name, upstream, slots, shares: serviceShares }];
    }),
  );

  /** @param until when the wait for slots ends; the clock of `performance` */
  const send = async (context: RequestContext, caller: Caller, rest: SendOptions) => {
    const { request, response, requestId, target } = context;
    const { operation, body, until, releaseSlot } = rest;
    const { workspace } = caller.identity;
    const service = services.get(operation.service);
    if (service === undefined) throw new Error(`there is no address of the ${operation.service} service`);
    const release = await service.slots.enter(workspace.id, until - performance.now(), response);
    if (release === undefined) {
      // The workspace itself uses what the service has for it; without a request of its own, others do.
      if (service.shares.heldBy(workspace.id) > 0) throw tooManyUnderWay(service.shares.heldBy(workspace.id));
      throw overloaded(`The ${service.name} service has too many requests`, 'service_busy');
    }
    try {
      if (response.destroyed) return;
      const bodyLength = isRead(request) ? undefined : (body.bytes?.length ?? 0);
      const own = {
        principal: caller.principalFor(operation.service),
        requestId,
        bodyLength,
        bodyLimit: (bodyLength ?? 0) > shares.maxBodyBytes ? shares.maxBodyBytes : undefined,
      };
      request.url = target.path + target.search;
      const { deadline, wait } = operation;
      const onWait = (begun: Wait) => {
        waiting.enter({ context, caller, wait: begun });
        release();
        releaseSlot();
      };
      await inSpan(forwardSpan(context, operation), async (span) => {
        request.headers = forwardedHeaders(request.headers, { ...own, trace: traceHeaders() });
        await service.upstream.forward({
          request,
          response,
          body: body.bytes,
          deadline,
          onWait: wait === undefined ? undefined : onWait,
          onCost: (cost) => meter.addCost(workspace.id, cost),
        });
        if (span !== undefined && !response.destroyed) recordStatus(span, response.statusCode);
      });
    } finally {
      release();
    }
  };

  return {
    forward: async (context, caller, operation) => {
      const { request, response } = context;
      const { workspace } = caller.identity;
      const body = await receiveBody(bodies, request, workspace.id);
      // The client has gone.
      if (body === undefined) return;
      context.bodyBytes = body.bytes?.length ?? 0;
      try {
        const until = performance.now() + shares.wait;
        const release = await workspaceSlots.enter(workspace.id, shares.wait, response);
        if (release === undefined) throw tooManyUnderWay(shares.requestsPerWorkspace);
        try {
          await send(context, caller, { operation, body, until, releaseSlot: release });
        } finally {
          // A write of a client that has gone takes its slot until the service has responded.
          releaseWhenClosed(response, release);
        }
      } finally {
        body.release();
      }
    },
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

interface SendOptions {
  operation: Operation;
  body: ReceivedBody;
  until: number;
  /** Gives back the slot of the workspace. */
  releaseSlot: Release;
}

function releaseWhenClosed(response: ServerResponse, release: Release): void {
  if (response.destroyed) release();
  else response.on('close', release);
}

const NO_BODY: ReceivedBody = { bytes: undefined, release: () => undefined };
/** Sent instead of the body of a read, which means nothing and is discarded. */
const EMPTY_BODY: ReceivedBody = { ...NO_BODY, bytes: Buffer.alloc(0) };

/** Resolves with `undefined` if the client has gone. */
async function receiveBody(
  bodies: BodyReader,
  request: IncomingMessage,
  workspaceId: number,
): Promise<ReceivedBody | undefined> {
  if (!hasBody(request)) return NO_BODY;
  if (!isRead(request)) return bodies.read(request, workspaceId);
  request.resume();
  return EMPTY_BODY;
}

const tooManyUnderWay = (count: number) =>
  shareExceeded(`At least ${count} requests of this workspace are under way: wait for their responses`, {
    reason: 'requests_in_flight',
  });
