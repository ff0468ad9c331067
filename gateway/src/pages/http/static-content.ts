import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createGunzip, gzip } from 'node:zlib';
import Negotiator from 'negotiator';

export interface StaticContent {
  /** The first 16 hexadecimal digits of the SHA-256 of the uncompressed bytes, for immutable URLs. */
  readonly digest: string;
  /** Whether the content is sent as it is in memory; without a known encoding it is decompressed for each request. */
  isReady(request: IncomingMessage): boolean;
  /** Sends the content with the best encoding that the client accepts, or 304 if the client has it. */
  send(request: IncomingMessage, response: ServerResponse): Promise<void>;
}

export interface StaticContentOptions {
  /** The Content-Type, with its charset. */
  type: string;
  caching: 'immutable' | 'revalidated';
}

const CACHE_CONTROL = { immutable: 'public, max-age=31536000, immutable', revalidated: 'no-cache' } as const;

/** In the order of preference. */
const ENCODINGS = ['br', 'gzip'] as const;
type Encoding = (typeof ENCODINGS)[number];

const compressors: Record<Encoding, (bytes: Buffer) => Promise<Buffer>> = {
  // Quality 11 takes ten seconds for the largest file and makes it only a tenth smaller.
  br: async (bytes) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: async (bytes) => promisify(gzip)(bytes, { level: 9 }),
};

/**
 * Content that is the same for all clients. It is compressed at the first request for an encoding, and only the
 * compressed copies stay in memory.
 * @param read returns the bytes; they must be the same each time
 */
export function staticContent(read: () => Buffer, { type, caching }: StaticContentOptions): StaticContent {
  const original = read();
  const size = original.length;
  const digest = digestOf(original);
  const copies: Partial<Record<Encoding, Promise<Buffer>>> = {};

  const compress = async (encoding: Encoding): Promise<Buffer> => {
    const bytes = read();
    // A file that was replaced while the gateway runs must not be cached under the URL of the old one.
    if (digestOf(bytes) !== digest) throw new Error(`the content ${digest} has changed since the start`);
    return compressors[encoding](bytes);
  };
  const copyWith = async (encoding: Encoding): Promise<Buffer> => {
    const copy = (copies[encoding] ??= compress(encoding));
    return copy.catch((error: unknown) => {
      if (copies[encoding] === copy) Reflect.deleteProperty(copies, encoding);
      throw error;
    });
  };

  const encodingFor = (request: IncomingMessage): Encoding | undefined => {
    const accepted = new Negotiator(request).encodings(ENCODINGS);
    return ENCODINGS.find((candidate) => accepted.includes(candidate));
  };

  return {
    digest,
    isReady: (request) => encodingFor(request) !== undefined,
    send: async (request, response) => {
      if (caching === 'revalidated') {
        // Weak, since it is the same for all encodings.
        response.setHeader('ETag', `W/"${digest}"`);
        if (hasTag(request, digest)) {
          response.setHeader('Vary', 'Accept-Encoding');
          response.setHeader('Cache-Control', CACHE_CONTROL[caching]);
          response.writeHead(304).end();
          return;
        }
      }
      const encoding = encodingFor(request);
      const copy = await copyWith(encoding ?? 'gzip');
      response.setHeader('Content-Type', type);
      response.setHeader('Content-Length', encoding === undefined ? size : copy.length);
      if (encoding !== undefined) response.setHeader('Content-Encoding', encoding);
      response.setHeader('Vary', 'Accept-Encoding');
      response.setHeader('Cache-Control', CACHE_CONTROL[caching]);
      if (request.method === 'HEAD') response.end();
      else if (encoding !== undefined) response.end(copy);
      else await sendUncompressed(copy, response);
    },
  };
}

/** Decompresses a copy in chunks: the content is large, and few clients need it uncompressed. */
async function sendUncompressed(copy: Buffer, response: ServerResponse): Promise<void> {
  await pipeline(Readable.from([copy]), createGunzip(), response).catch((error: unknown) => {
    // Not an error if the client has closed its connection.
    if (!response.destroyed) throw error;
  });
}

/** Whether the client has the content with this entity tag. */
function hasTag({ headers }: IncomingMessage, digest: string): boolean {
  const tags = (headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim());
  return tags.some((tag) => tag === '*' || tag.replace(/^W\//, '') === `"${digest}"`);
}

const digestOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
