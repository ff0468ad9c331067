/** Why a request was refused, or that there was no response. */
export class ApiError extends Error {
  /** 0: no response. */
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;
  readonly requestId: string | undefined;

  constructor(status: number, body: ErrorBody) {
    super(body.message ?? 'The server gave no reason');
    this.status = status;
    this.code = body.code ?? 'unknown';
    this.field = body.field;
    this.details = body.details ?? {};
    this.requestId = body.request_id;
  }
}

interface ErrorBody {
  code?: string;
  message?: string;
  field?: string;
  details?: Record<string, unknown>;
  request_id?: string;
}

export interface Write {
  method?: 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: unknown;
  /** The revision that the change is based on. */
  revision?: number;
  /** The same for repetitions of one create. */
  key?: string;
}

const API = '/api/v1';

/** Milliseconds; longer than the longest deadline of the API. */
const TIMEOUT = 40_000;

/** @throws ApiError */
async function send<Body>(path: string, init: RequestInit): Promise<Body> {
  let response: Response;
  try {
    response = await fetch(API + path, { ...init, signal: AbortSignal.timeout(TIMEOUT) });
  } catch {
    throw new ApiError(0, { code: 'offline', message: 'Tocsin cannot be reached. Check the connection.' });
  }
  const text = await response.text();
  const body: unknown = text === '' ? undefined : parse(text);
  if (!response.ok) throw new ApiError(response.status, body ?? {});
  return body as Body;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const read = async <Body>(path: string): Promise<Body> => send(path, {});

export const write = async <Body>({ method = 'POST', path, body, revision, key }: Write): Promise<Body> =>
  send(path, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(revision !== undefined && { 'If-Service-Resource-Version': String(revision) }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** Begins a session with the token of a link. @throws ApiError */
export async function signIn(token: string): Promise<void> {
  const response = await fetch('/app/session', { method: 'POST', headers: { Authorization: `Bearer ${token}` } });
  if (!response.ok) throw new ApiError(response.status, parse(await response.text()) ?? {});
}

/** Whether people of this workspace sign in by a provider. */
export async function hasProvider(): Promise<boolean> {
  try {
    return ((await (await fetch('/app/session')).json()) as { oidc?: boolean }).oidc === true;
  } catch {
    return false;
  }
}

type QueryValue = string | number | boolean | undefined;

/** A query string; values of a list are repeated. */
export function query(parameters: Readonly<Record<string, QueryValue | readonly QueryValue[]>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? (value as QueryValue[]) : [value as QueryValue]) {
      if (each !== undefined && each !== '') search.append(name, String(each));
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
