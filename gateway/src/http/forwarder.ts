import type { IncomingMessage, ServerResponse } from 'node:http';
import { shareExceeded, type WorkspaceContext } from '@tocsin/http';
import { forwardedHeaders } from '../clients/forwarded-headers.ts';
import type { Upstream } from '../clients/upstream.ts';
import { fairShares } from '../domain/fair-shares.ts';
import { overloaded } from '../domain/overload.ts';
import type { Operation } from '../domain/route-table.ts';
import { type BodyReader, bodyReader, type BodyTimes, type ReceivedBody } from './body-reader.ts';
import type { Caller } from './identities.ts';
import { hasBody, type RequestContext } from './request-context.ts';
import { type Release, type SlotPool, slotPool } from './slot-pool.ts';

/** How much workspaces may have under way at the same time. */
export interface Shares {
  /** Requests that are forwarded and whose responses are not finished. */
  requestsPerWorkspace: number;
  /** Requests that wait for a service, over all workspaces. */
  requestsPerService: number;
  /** The longest wait for a slot; milliseconds. */
  wait: number;
  /** Bytes of request bodies. */
  bodyBytesPerWorkspace: number;
  bodyBytes: number;
  body: BodyTimes;
}

/** Sends a checked request to its service, when its body has arrived and it is its workspace's turn. */
export interface Forwarder {
  /** Resolves when the response has begun or the client has gone. @throws DomainError if the request was not served */
  forward(context: RequestContext, caller: Caller, operation: Operation): Promise<void>;
}

/** @param options `upstreams` are by the names of the services in the route table */
export function forwarder({
  upstreams,
  shares,
}: {
  upstreams: ReadonlyMap<string, Upstream>;
  shares: Shares;
}): Forwarder {
  const bodies = bodyReader(
    fairShares({ total: shares.bodyBytes, perHolder: shares.bodyBytesPerWorkspace }),
    shares.body,
  );
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

  /** Returns `undefined` if the client has gone. */
  const enterWorkspace = async (workspace: WorkspaceContext, response: ServerResponse) => {
    const release = await enter(workspaceSlots, { workspace, response, wait: shares.wait });
    if (release !== undefined || response.destroyed) return release;
    throw tooManyUnderWay(shares.requestsPerWorkspace);
  };

  const send = async (
    context: RequestContext,
    caller: Caller,
    rest: { operation: Operation; body?: ReceivedBody | undefined },
  ) => {
    const { request, response, requestId, target } = context;
    const { operation, body } = rest;
    const { workspace } = caller.identity;
    const service = services.get(operation.service);
    if (service === undefined) throw new Error(`there is no address of the ${operation.service} service`);
    const release = await enter(service.slots, { workspace, response, wait: shares.wait });
    if (release === undefined) {
      if (response.destroyed) return;
      // The workspace itself uses what the service has for it; without a request of its own, others do.
      if (service.shares.heldBy(workspace.id) > 0) throw tooManyUnderWay(service.shares.heldBy(workspace.id));
      throw overloaded(`The ${service.name} service has too many requests`, 'service_busy');
    }
    try {
      if (response.destroyed) return;
      request.headers = forwardedHeaders(request.headers, {
        principal: caller.principalFor(operation.service),
        requestId,
        bodyLength: isRead(request) ? undefined : (body?.bytes.length ?? 0),
      });
      request.url = target.path + target.search;
      const { deadline } = operation;
      await service.upstream.forward({ request, response, body: body?.bytes, deadline });
    } finally {
      release();
    }
  };

  return {
    forward: async (context, caller, operation) => {
      const { request, response } = context;
      const { workspace } = caller.identity;
      const body = await receiveBody(bodies, request, workspace.id);
      context.bodyBytes = body?.bytes.length ?? 0;
      try {
        if (response.destroyed) return;
        const release = await enterWorkspace(workspace, response);
        if (release === undefined) return;
        if (response.destroyed) release();
        else response.once('close', release);
        await send(context, caller, { operation, body });
      } finally {
        body?.release();
      }
    },
  };
}

/** Without a promise when a slot is free. */
function enter(
  slots: SlotPool,
  { workspace, response, wait }: { workspace: WorkspaceContext; response: ServerResponse; wait: number },
): Release | undefined | Promise<Release | undefined> {
  return slots.enter(workspace.id, wait, response);
}

const NO_BODY: ReceivedBody = { bytes: Buffer.alloc(0), release: () => undefined };
const isRead = ({ method }: IncomingMessage) => method === 'GET' || method === 'HEAD';

/** The body of a read means nothing and is discarded; no service looks at it. */
async function receiveBody(
  bodies: BodyReader,
  request: IncomingMessage,
  workspaceId: number,
): Promise<ReceivedBody | undefined> {
  if (!hasBody(request)) return undefined;
  if (!isRead(request)) return bodies.read(request, workspaceId);
  request.resume();
  return NO_BODY;
}

const tooManyUnderWay = (count: number) =>
  shareExceeded(`At least ${count} requests of this workspace are under way: wait for their responses`, {
    reason: 'requests_in_flight',
  });
