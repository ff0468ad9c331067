import { ERROR_CLASSES } from './error-classes.ts';
import { ConnectionError, type ErrorProperties, TocsinError, UnexpectedResponseError } from './errors.ts';
import { localFetch } from './local-fetch.ts';
import type { CallOptions, TocsinOptions } from './options.ts';
import { pause, waitBefore } from './retry.ts';

/** How many repetitions a call has if nothing else is said. */
const RETRIES = 5;

/** Milliseconds that an attempt has beyond the deadline of the operation: for the way. */
const WAY = 5_000;

const WRONG_ADDRESS = 'is the address that of a workspace?';

export type QueryValue = string | number | boolean | null | undefined;
export type Query = Readonly<Record<string, QueryValue | readonly QueryValue[]>>;

/** One request, of which every attempt has the same bytes. */
export interface ApiRequest {
  method: string;
  /** From `/api/v1` on; `query` comes behind a query that it has. */
  path: string;
  query?: Query | undefined;
  /** JSON, or a file: a `Blob` or a `Uint8Array`. */
  body?: unknown;
  headers?: Readonly<Record<string, string>> | undefined;
  /** Seconds that the server may take. */
  deadline?: number | undefined;
  /** Whether it may be sent again although an earlier attempt may have had its effect. */
  isRepeatable: boolean;
  options?: CallOptions | undefined;
}

export interface ApiResponse {
  status: number;
  headers: Headers;
  /** The parsed JSON, the text of a document in Markdown or HTML, or a picture as a `Blob`; undefined if the body is empty. */
  body: unknown;
}

/** Sends a request, again where that is safe. @throws TocsinError, or the reason of the signal */
export async function sendRequest(client: TocsinOptions, request: ApiRequest): Promise<ApiResponse> {
  const { options = {} } = request;
  const retries = options.retries ?? client.retries ?? RETRIES;
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await attemptOnce(client, request);
    } catch (error) {
      if (!(error instanceof TocsinError) || attempt >= retries) throw error;
      const wait = waitBefore(error, attempt);
      if (wait === undefined) throw error;
      await pause(wait, options.signal);
    }
  }
}

async function attemptOnce(client: TocsinOptions, request: ApiRequest): Promise<ApiResponse> {
  const { deadline = 30, options = {} } = request;
  const timeout = AbortSignal.timeout(options.timeout ?? client.timeout ?? deadline * 1_000 + WAY);
  const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
  const response = await openResponse(client, request, signal);
  const { status, headers } = response;
  if (headers.get('content-type')?.startsWith('image/') === true)
    return { status, headers, body: await reaching(request, signal, async () => response.blob()) };
  const text = await reaching(request, signal, async () => response.text());
  return { status, headers, body: parse(text, response, request) };
}

/** The content of a file says what it is. */
const FILE_TYPE = 'application/octet-stream';

const isFile = (body: unknown): body is Blob | Uint8Array<ArrayBuffer> =>
  body instanceof Blob || body instanceof Uint8Array;

async function bodyOf({ body }: ApiRequest): Promise<string | Uint8Array<ArrayBuffer> | null> {
  if (body === undefined) return null;
  if (!isFile(body)) return JSON.stringify(body);
  return body instanceof Blob ? new Uint8Array(await body.arrayBuffer()) : body;
}

/** Sends a request once, and returns its response before the body. @throws TocsinError, or the reason of the signal */
export async function openResponse(client: TocsinOptions, request: ApiRequest, signal: AbortSignal): Promise<Response> {
  const url = urlOf(client.baseUrl, request);
  const headers = new Headers({
    ...(client.token !== null && { Authorization: `Bearer ${client.token}` }),
    Accept: 'application/json',
    ...(request.body !== undefined && { 'Content-Type': isFile(request.body) ? FILE_TYPE : 'application/json' }),
    ...request.headers,
  });
  const body = await bodyOf(request);
  const send = client.fetch ?? localFetch(url) ?? fetch;
  const init = { method: request.method, headers, body, signal, redirect: 'error' } as const;
  const response = await reaching(request, signal, async () => send(url, init));
  if (response.ok) return response;
  const text = await reaching(request, signal, async () => response.text());
  throw errorOf(response, text, request.isRepeatable);
}

function urlOf(baseUrl: string, { path, query = {} }: ApiRequest): URL {
  const url = new URL(baseUrl.replace(/\/$/, '') + path);
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined && one !== null) url.searchParams.append(name, String(one));
    }
  }
  return url;
}

/** Carries out a part of a request, and turns what fails on the way into a `ConnectionError`. */
async function reaching<Result>(
  { isRepeatable, method, path, options }: ApiRequest,
  signal: AbortSignal,
  step: () => Promise<Result>,
): Promise<Result> {
  try {
    return await step();
  } catch (cause) {
    options?.signal?.throwIfAborted();
    const what = `${method} ${path}`;
    if (signal.aborted) {
      const properties = { cause, retryable: isRepeatable };
      throw new ConnectionError('timeout', `${what} got no response in time`, properties);
    }
    const reason = reasonOf(cause);
    throw new ConnectionError('connection_lost', `${what}: cannot reach the server${reason && ` (${reason})`}`, {
      ...{ cause, retryable: isRepeatable && !LASTING.test(reason) },
    });
  }
}

/** Reasons that a repetition meets again: a redirect, a server of another protocol, a certificate. */
const LASTING =
  /^(?:unexpected redirect|bad port|EPROTO|HPE_INVALID_CONSTANT|ERR_(?:INVALID|SSL|TLS)_|CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_)/;

/** `fetch` hides the reason in the cause. */
function reasonOf(error: unknown): string {
  const { message, code, cause } = error as Record<'message' | 'code' | 'cause', unknown>;
  const inner = (cause ?? {}) as Record<'message' | 'code', unknown>;
  const reason = inner.code ?? inner.message ?? code ?? message;
  return typeof reason === 'string' ? reason : '';
}

function parse(text: string, response: Response, { headers }: ApiRequest): unknown {
  if (text === '') return undefined;
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/markdown')) return text;
  // A page that nobody has asked for is that of another server.
  if (type.startsWith('text/html') && new Headers(headers).get('accept')?.includes('text/html') === true) return text;
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new UnexpectedResponseError('unexpected_response', `The response is not JSON: ${WRONG_ADDRESS}`, {
      ...propertiesOf(response),
      cause,
    });
  }
}

const propertiesOf = ({ status, headers }: Response): ErrorProperties => ({
  status,
  requestId: headers.get('x-request-id') ?? undefined,
  retryAfter: secondsOf(headers.get('retry-after')),
});

const secondsOf = (text: string | null) => (text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined);

interface ErrorBody {
  code?: unknown;
  message?: unknown;
  field?: string;
  details?: Record<string, unknown>;
  request_id?: string;
}

function errorOf(response: Response, text: string, isRepeatable: boolean): TocsinError {
  const body = readErrorBody(text);
  const properties = propertiesOf(response);
  const { status } = response;
  // A refusal of 429 had no effect; another response of the server, or of a proxy, may have come after it.
  const retryable = status === 429 || (isRepeatable && [408, 409, 500, 502, 503, 504].includes(status));
  if (body === undefined) {
    const message = `The response has status ${status} and is not of the API: ${WRONG_ADDRESS}`;
    return new UnexpectedResponseError('unexpected_response', message, { ...properties, retryable });
  }
  const { code, message, field, details, request_id: requestId = properties.requestId } = body;
  const classes: Readonly<Record<string, typeof TocsinError>> = ERROR_CLASSES;
  const Class = (Object.hasOwn(classes, code) ? classes[code] : undefined) ?? TocsinError;
  return new Class(code, message, {
    ...properties,
    ...{ field, details, requestId },
    retryable: retryable && (status !== 409 || code === 'idempotency_in_progress'),
  });
}

function readErrorBody(text: string): (ErrorBody & { code: string; message: string }) | undefined {
  try {
    const body = JSON.parse(text) as ErrorBody | null;
    const { code, message } = body ?? {};
    return typeof code === 'string' && typeof message === 'string' ? { ...body, code, message } : undefined;
  } catch {
    return undefined;
  }
}
