import { hasBody } from '@tocsin/http';
import { FairQueue, ownProperty } from '@tocsin/runtime';
import type { BodyTimes } from '../../limits/domain/shares.ts';
import type { RequestContext } from '../../requests/http/request-context.ts';
import { bodyReader } from './body-reader.ts';

/** Bytes of a body that is read before anybody knows whose it is: the largest event that PagerDuty takes. */
const MAX_BYTES = 512 * 1_024;
/** Bytes of such bodies of all networks. One holds at most half of what is free. */
const ALL_BYTES = 16 * 1_024 * 1_024;

/** Reads the body of a client that may be anybody; undefined if there is none, it is too large, or the client has gone. */
export type AnonymousBodies = (context: RequestContext, network: string) => Promise<Buffer | undefined>;

/** Bodies of clients that cannot send a token elsewhere have a small memory of their own (contract: Alerts). */
export function anonymousBodies({ times }: { times: BodyTimes }): AnonymousBodies {
  const leases = new FairQueue<string>({ all: ALL_BYTES, leavesAsMuch: true });
  const bodies = bodyReader(leases, { times, maxBytes: MAX_BYTES, holder: 'network' });
  return async ({ request, response }, network) => {
    if (!hasBody(request) || Number(request.headers['content-length'] ?? 0) > MAX_BYTES) return undefined;
    const body = await bodies.read(request, network);
    if (body?.bytes === undefined) return undefined;
    if (response.destroyed) body.release();
    else response.once('close', () => body.release());
    return body.bytes;
  };
}

/** Finds the token in a property of the body, and keeps the body for what follows. */
export async function tokenInBody(
  context: RequestContext,
  property: string,
  read: () => Promise<Buffer | undefined>,
): Promise<string | undefined> {
  context.body = await read();
  return context.body && tokenOf(context.body, property);
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
