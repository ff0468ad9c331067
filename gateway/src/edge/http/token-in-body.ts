import { hasBody } from '@tocsin/http';
import { FairQueue, ownProperty } from '@tocsin/runtime';
import type { BodyTimes } from '../../limits/domain/shares.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import { bodyReader } from './body-reader.ts';

/** Bytes of a body that is read before anybody knows whose it is: the largest event that PagerDuty takes. */
const MAX_BYTES = 512 * 1_024;
/** Bytes of such bodies of all networks. One holds at most half of what is free. */
const ALL_BYTES = 16 * 1_024 * 1_024;

/** Finds the token in a property of the body, and keeps the body for what follows. */
export type TokenInBody = (context: RequestContext, property: string, network: string) => Promise<string | undefined>;

/** Bodies of clients that cannot send a token elsewhere have a small memory of their own (contract: Alerts). */
export function tokenInBody({ times }: { times: BodyTimes }): TokenInBody {
  const leases = new FairQueue<string>({ all: ALL_BYTES, leavesAsMuch: true });
  const bodies = bodyReader(leases, { times, maxBytes: MAX_BYTES, holder: 'network' });
  return async (context, property, network) => {
    const { request, response } = context;
    if (!hasBody(request) || Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return undefined;
    const body = await bodies.read(request, network);
    if (body?.bytes === undefined) return undefined;
    context.body = body.bytes;
    if (response.destroyed) body.release();
    else response.once('close', () => body.release());
    return tokenOf(body.bytes, property);
  };
}

function tokenOf(bytes: Buffer, property: string): string | undefined {
  // What has no token takes no time.
  if (bytes.length > MAX_BYTES || !bytes.includes(property)) return undefined;
  try {
    const parsed = JSON.parse(bytes.toString()) as Readonly<Record<string, unknown>> | null;
    const value = ownProperty(parsed ?? {}, property);
    return typeof value === 'string' ? value : undefined;
  } catch {
    // The service says what is wrong with it, to those who have a token elsewhere.
    return undefined;
  }
}
