import { setTimeout as delay } from 'node:timers/promises';

/** Milliseconds for a response, and at most between two attempts if the receiver does not ask for more. */
const DEADLINE = 10_000;
const FIRST_WAIT = 2_000;
const LONGEST_WAIT = 60_000;
/** Milliseconds that a receiver may ask for. */
const LONGEST_RETRY_AFTER = 3_600_000;

/**
 * Posts a message until it is accepted. Nothing that it says has the address.
 * @param signal ends the waiting between two attempts; a request that is under way ends by itself
 * @returns undefined, or why the receiver refuses this message
 * @throws Error if it refuses every message
 */
export async function post(
  url: URL,
  body: string,
  { signal, note }: { signal: AbortSignal; note: (text: string) => void },
): Promise<string | undefined> {
  for (let attempt = 0; ; attempt += 1) {
    signal.throwIfAborted();
    const { status, said, retryAfter } = await send(url, body);
    if (status < 300) return undefined;
    // It may not post, or there is nothing (any more) at this address; a redirect might lead anywhere.
    if (status < 400 || [401, 403, 404, 405, 410].includes(status))
      throw new Error(`${said}, so none arrives at the address in --url-file; correct it, and nothing is lost`);
    if (status < 500 && ![408, 425, 429].includes(status)) return said;
    const backoff = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** (retryAfter === undefined ? attempt : 0));
    const wait = (retryAfter ?? 0) + backoff * (0.5 + Math.random() / 2);
    note(`${said}; trying again in ${(wait / 1_000).toFixed(1)} s`);
    await delay(wait, undefined, { signal });
  }
}

/** Posts it once. A lost connection is the status 503. What `said` says has no part of the address. */
export async function send(url: URL, body: string, { headers, signal }: RequestInit = {}) {
  const deadline = AbortSignal.timeout(DEADLINE);
  try {
    const all = { 'Content-Type': 'application/json', ...(headers as object) };
    const ends = signal ? AbortSignal.any([signal, deadline]) : deadline;
    const response = await fetch(url, { method: 'POST', headers: all, body, redirect: 'manual', signal: ends });
    // A response that breaks off has a status all the same.
    await response.body?.cancel().catch(() => undefined);
    const { status } = response;
    return { status, said: `the receiver responded with ${status}`, retryAfter: readRetryAfter(response.headers) };
  } catch (error) {
    const { name, cause } = error as Error;
    const code = name === 'TimeoutError' ? 'no response' : (cause as { code?: string } | undefined)?.code;
    return {
      status: 503,
      said: `the receiver cannot be reached (${code ?? 'lost connection'})`,
      retryAfter: undefined,
    };
  }
}

/** Milliseconds: of seconds, which Discord sends with decimals, or of a date. */
function readRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after');
  if (text === null) return undefined;
  const wait = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.min(LONGEST_RETRY_AFTER, Math.max(0, wait));
}
