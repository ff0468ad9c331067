import type { IncomingMessage } from 'node:http';
import { DESCRIPTION_PATH, getOnce, type Target } from '@tocsin/http';

/** What one read of a service's description returned. */
export type DescriptionRead =
  /** One of the versions that the request named. */
  | { kind: 'known'; tag: string }
  | { kind: 'read'; bytes: Buffer }
  /** More bytes than allowed. */
  | { kind: 'too large' }
  /** The service serves no description: it is of an earlier release. */
  | { kind: 'none' };

export interface ReadOptions {
  /** The entity tags of the versions that are known already. */
  known: readonly string[];
  maxBytes: number;
  /** Milliseconds from the look-up of the address to the last byte. */
  deadline: number;
  signal: AbortSignal;
}

/** The entity tag of a service; a proxy that compresses makes it weak. */
const TAG = /^(?:W\/)?("[\w-]{1,64}")$/;

/**
 * Reads the description that a service serves at present. Each read has a connection of its own: behind one address there
 * may be several processes, and a connection that is kept leads to the same one for ever.
 * @throws Error if there is no response in time, or not one of the expected ones
 */
export async function readDescription(target: Target, options: ReadOptions): Promise<DescriptionRead> {
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
  const request = getOnce(
    target,
    DESCRIPTION_PATH,
    {
      signal: AbortSignal.any([options.signal, AbortSignal.timeout(options.deadline)]),
      headers: { Accept: 'application/json', 'If-None-Match': options.known.join(', ') },
    },
    resolve,
  );
  // For as long as the request exists: it may fail after the response has begun.
  request.on('error', reject);
  try {
    return await readResponse(await promise, options);
  } finally {
    request.destroy();
  }
}

async function readResponse(response: IncomingMessage, { known, maxBytes }: ReadOptions): Promise<DescriptionRead> {
  const { statusCode = 0, headers } = response;
  if (statusCode === 404) return { kind: 'none' };
  if (statusCode === 304) {
    const tag = TAG.exec(headers.etag ?? '')?.[1];
    if (tag === undefined || !known.includes(tag))
      throw new Error('the service returned 304 without a known entity tag');
    return { kind: 'known', tag };
  }
  if (statusCode !== 200) throw new Error(`the service returned ${statusCode}`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) return { kind: 'too large' };
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > maxBytes) return { kind: 'too large' };
    chunks.push(chunk);
  }
  return { kind: 'read', bytes: Buffer.concat(chunks) };
}
