import type { IncomingMessage } from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { setting } from '@tocsin/runtime';
import type { Upload } from '../contracts/contract.ts';
import { DomainError, invalidRequest } from '../errors/errors.ts';
import { type DocumentLimits, parseJson } from '../json/json.ts';
import { throttleByWorkspace } from '../server/throttle-by-workspace.ts';

/** contract: Limits */
export const MAX_BODY_BYTES = 1_048_576;
/** The largest JSON value of a custom field must fit. */
const LOWEST_MAX_BODY_BYTES = 131_072;

/**
 * The gateway cuts a body off behind its limit, and names the limit in this header, so that the service refuses the body
 * when its turn in the order of the checks has come. The service itself may have a higher limit.
 */
export const BODY_LIMIT_HEADER = 'x-tocsin-body-limit';

export const bodySettings = {
  MAX_BODY_BYTES: setting.integer({ min: LOWEST_MAX_BODY_BYTES, max: MAX_BODY_BYTES }).default(MAX_BODY_BYTES),
};

export interface JsonBody {
  /** The exact bytes: idempotency compares these. */
  bytes: Buffer;
  value: Record<string, unknown>;
}

const tooLarge = (maxBytes: number) =>
  new DomainError('request_body_too_large', `The body must be at most ${maxBytes} bytes`);

/** @throws DomainError `request_body_too_large` if Content-Length exceeds the limit */
export function checkContentLength(request: IncomingMessage, maxBytes: number): void {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
}

/** Bytes. Larger bodies take milliseconds to parse, in which the process does nothing else. */
const LARGE_BODY = 65_536;

/**
 * Reads a body of exactly one JSON object. Stops storing data as soon as the limit is exceeded.
 * @param options.optional an empty body counts as `{}`; `workspaceId`: whose large bodies are parsed one at a time;
 *   `onBytes` gets the bytes before they are checked; `mediaType` is allowed besides `application/json`
 */
export async function readJsonBody(
  request: IncomingMessage,
  options: {
    optional: boolean;
    maxBytes: number;
    document?: Partial<DocumentLimits> | undefined;
    workspaceId?: number;
    onBytes?: (bytes: Buffer) => void;
    mediaType?: string;
  },
): Promise<JsonBody> {
  const { optional } = options;
  const bytes = await readWithin(request, options.maxBytes);
  options.onBytes?.(bytes);
  if (bytes.length === 0 && optional) return { bytes, value: {} };
  checkJsonType(request, options.mediaType);
  const parse = () => parseJson(bytes, options.document);
  const parseLarge = async () => {
    const parsed = parse();
    // What is done with it takes as long.
    await setImmediate();
    return parsed;
  };
  // Apart from the pages of the workspace: an import takes the turn of those for a long time.
  const value = await (bytes.length > LARGE_BODY && options.workspaceId !== undefined
    ? throttleByWorkspace(`bodies of ${options.workspaceId}`, parseLarge)
    : parse());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new DomainError('invalid_request', 'The body must be a JSON object');
  }
  return { bytes, value: value as Record<string, unknown> };
}

/**
 * Reads a body that is a file. A media type that the client does not know is `application/octet-stream`.
 * @throws DomainError `request_body_too_large`, `unsupported_media_type`, `invalid_request` if it is empty
 */
export async function readUpload(
  request: IncomingMessage,
  { maxBytes, types, onBytes }: Upload & { onBytes: (bytes: Buffer) => void },
): Promise<Buffer> {
  const bytes = await readWithin(request, maxBytes);
  onBytes(bytes);
  const { type, encoding } = mediaTypeOf(request);
  const isOf = (allowed: string) => (allowed.endsWith('/*') ? type.startsWith(allowed.slice(0, -1)) : type === allowed);
  if (!types.some(isOf) || encoding !== 'identity') throw unsupported(types.join(' or '), encoding);
  if (bytes.length === 0) throw invalidRequest('body', 'Is required');
  return bytes;
}

async function readWithin(request: IncomingMessage, limit: number): Promise<Buffer> {
  const maxBytes = Math.min(limit, Number(request.headers[BODY_LIMIT_HEADER] ?? Infinity) || Infinity);
  checkContentLength(request, maxBytes);
  return readBytes(request, maxBytes);
}

/** Many times the length of a real one. */
const MAX_CONTENT_TYPE = 256;

function mediaTypeOf({ headers }: IncomingMessage) {
  const { 'content-type': contentType = '', 'content-encoding': encoding = 'identity' } = headers;
  const [type = '', ...parameters] =
    contentType.length > MAX_CONTENT_TYPE ? [] : contentType.split(';').map((part) => part.trim().toLowerCase());
  return { type, parameters, encoding };
}

const unsupported = (types: string, encoding: string) =>
  new DomainError('unsupported_media_type', `The body must be ${types}, without a content encoding`, {
    field: encoding === 'identity' ? 'Content-Type' : 'Content-Encoding',
  });

/** @throws DomainError `unsupported_media_type` unless the body is uncompressed JSON in UTF-8 */
function checkJsonType(request: IncomingMessage, otherType: string | undefined): void {
  const { type, parameters, encoding } = mediaTypeOf(request);
  const charset = parameters
    .find((parameter) => parameter.startsWith('charset='))
    ?.slice('charset='.length)
    .replaceAll('"', '');
  if (
    (type !== 'application/json' && type !== otherType) ||
    (charset !== undefined && charset !== 'utf-8' && charset !== 'utf8') ||
    encoding !== 'identity'
  )
    throw unsupported('application/json in UTF-8', encoding);
}

async function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  // Without a body, there are no events to wait for.
  if (request.readableEnded) return Buffer.alloc(0);
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let length = 0;
  request.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBytes) {
      // Discard the rest: closing the connection could reset it before the client has read the response.
      request.removeAllListeners('data');
      request.resume();
      reject(tooLarge(maxBytes));
    } else chunks.push(chunk);
  });
  request.once('end', () => resolve(Buffer.concat(chunks)));
  const rejectIncomplete = () => reject(new DomainError('invalid_json', 'The body is incomplete'));
  // The client disconnected.
  request.once('error', rejectIncomplete);
  request.once('close', () => {
    // `close` follows every request; creating an error is expensive.
    if (!request.complete) rejectIncomplete();
  });
  return promise;
}
