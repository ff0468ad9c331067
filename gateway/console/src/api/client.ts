/**
 * `api` is all that the console knows of the server. Reads are queries, and a query is known by the path that it reads:
 * a write names the paths that it makes old, and so does an event about what others have written (`live.ts`).
 * `hooks.ts` has the reads that several rooms need: who is signed in and what they may do, people, teams, services,
 * fields and the configuration. All requests are those of the SDK with the cookie of the session; this file adds what
 * only a page needs: failures with texts for people, the news that the session has ended, and no write for a user who
 * is no longer that of the browser.
 */
import { type AnyRequest, BasicTocsin, TocsinError, type TocsinOptions } from '@tocsin/sdk';
import { reloadForOther } from './browser-user.ts';
import { failureOf } from './failures.ts';

/** Of the workspace that serves the page. Nothing is repeated: people see that it failed, and queries repeat. */
export const CONNECTION: TocsinOptions = { baseUrl: window.location.origin, token: null, retries: 0 };

export const tocsin = new BasicTocsin(CONNECTION);

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

/** An event of the window; `detail` is the path that nobody could read or write. */
export const SIGNED_OUT = 'signed-out';

/** @throws TocsinError whose text is for people */
async function send<Body>(method: string, path: string, request?: AnyRequest): Promise<Body> {
  try {
    return (await tocsin.request(method, `/api/v1${path}`, request)).body as Body;
  } catch (error) {
    const failure = failureOf(error);
    if (failure.status === 401) window.dispatchEvent(new CustomEvent(SIGNED_OUT, { detail: path }));
    throw failure;
  }
}

export const read = async <Body>(path: string, request?: AnyRequest): Promise<Body> => send('GET', path, request);

export async function write<Body>({ method = 'POST', path, body, revision, key }: Write): Promise<Body> {
  if (reloadForOther()) throw new TocsinError('other_user', 'Somebody else has signed in');
  return send(method, path, {
    body,
    headers: {
      ...(revision !== undefined && { 'If-Service-Resource-Version': String(revision) }),
      ...(key !== undefined && { 'Idempotency-Key': key }),
    },
  });
}
