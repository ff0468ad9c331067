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

  /** The same at another field: a form may know a better name than the API. */
  at(field: string): ApiError {
    return Object.assign(new ApiError(this.status, this), { field, requestId: this.requestId });
  }
}

/** What a form shows of a failure. */
export const failureOf = (error: unknown): ApiError =>
  error instanceof ApiError ? error : new ApiError(0, { message: 'The console failed. Reload the page.' });

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
  /** What was shown when the change began; it is not sent. */
  shown?: object;
  /** The same for repetitions of one create. */
  key?: string;
}

const API = '/api/v1';

/** An event of the window; `detail` is the path that nobody could read or write. */
export const SIGNED_OUT = 'signed-out';

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
  const isMarkdown = response.headers.get('Content-Type')?.startsWith('text/markdown') === true;
  const body: unknown = text === '' ? undefined : isMarkdown ? text : parse(text);
  if (response.status === 401) window.dispatchEvent(new CustomEvent(SIGNED_OUT, { detail: path }));
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

export const readMarkdown = async (path: string): Promise<string> =>
  send(path, { headers: { Accept: 'text/markdown' } });

export async function write<Body>({ method = 'POST', path, body, revision, key }: Write): Promise<Body> {
  if (reloadForOther()) throw new ApiError(0, { message: 'Somebody else has signed in' });
  return send(path, {
    method,
    headers: {
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(revision !== undefined && { 'If-Service-Resource-Version': String(revision) }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/**
 * Begins a session with the token of a link; without one, with the link that a cookie has.
 * @param replaces whether the session of another user is replaced
 * @throws ApiError 409 with `signed_in` and `link`, the two users, unless it is
 */
export async function signIn(token: string | undefined, { replaces }: { replaces: boolean }): Promise<void> {
  const response = await fetch(`/app/session${replaces ? '?replace=true' : ''}`, {
    method: 'POST',
    headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
  });
  if (!response.ok) throw new ApiError(response.status, parse(await response.text()) ?? {});
  localStorage.removeItem(USER);
}

/** Has the address of the page from which this tab was signed out. */
const LEFT = 'left';

export const rememberPage = (): void => sessionStorage.setItem(LEFT, location.pathname + location.search);
export const forgetPage = (): void => sessionStorage.removeItem(LEFT);

/** Goes back to the page from which this tab was signed out, if whoever signs in has asked for no other one. */
export function returnToPage(): void {
  const left = sessionStorage.getItem(LEFT);
  if (left !== null && /^\/app\/?$/.test(location.pathname)) window.history.replaceState(null, '', left);
}

/** Has the signed-in user, for all pages of this browser. */
const USER = 'user';
let own: string | undefined;

/** Tells other pages who is signed in. This page reloads if it was somebody else's. */
export function showUser(id: number): void {
  if (own !== undefined && own !== String(id)) window.location.reload();
  own = String(id);
  localStorage.setItem(USER, own);
}

/** Reloads a page whose user is no longer the one of the browser. Returns whether it does. */
function reloadForOther(): boolean {
  const isOther = own !== undefined && localStorage.getItem(USER) !== own;
  if (isOther) window.location.reload();
  return isOther;
}

for (const type of ['storage', 'pageshow', 'focus']) window.addEventListener(type, reloadForOther);

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
