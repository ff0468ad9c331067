import { setTimeout as delay } from 'node:timers/promises';
import { ConnectionError } from '@tocsin/sdk';
import { isLoopback } from '../loopback.ts';
import { UsageError } from '../operation-parameters.ts';
import { visible } from '../visible.ts';
import type { Connection, ConnectOptions } from './source.ts';

/** A GET of a path with its query. */
export interface HttpQuestion {
  path: string;
  query?: Readonly<Record<string, string | number>>;
  /** What is gone, or belongs to another plan, is null. */
  mayBeMissing?: boolean;
}

/** Milliseconds for a response, and bytes of it. */
const DEADLINE = 60_000;
const MAX_BYTES = 33_554_432;
const RETRIES = 8;
/** Milliseconds before the first repetition, and at most before one; a source may ask for more. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 30_000;
const LONGEST_ASKED = 900_000;

/** Connects to an API that has a token. Only reads. @throws UsageError */
export function connectHttp(
  { env, url, signal, onWait }: ConnectOptions,
  options: { variable: string; address: string; headersOf: (token: string) => Record<string, string> },
): Connection<HttpQuestion> {
  const token = env[options.variable] ?? '';
  if (!/^[!-~]{1,1000}$/.test(token)) throw new UsageError(`${options.variable} must have the token of the source`);
  const base = baseOf(url ?? options.address);
  const headers = { Accept: 'application/json', ...options.headersOf(token) };
  /** No request begins before. */
  let resumeAt = 0;

  const attempt = async ({ path, query = {}, mayBeMissing = false }: HttpQuestion): Promise<unknown> => {
    await delay(Math.max(0, resumeAt - Date.now()), undefined, { signal });
    const target = new URL(base.replace(/\/$/, '') + path);
    for (const [name, value] of Object.entries(query)) target.searchParams.append(name, String(value));
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(DEADLINE)]);
    const response = await fetch(target, { headers, signal: deadline, redirect: 'error' });
    const body = await readBody(response);
    if (response.ok) {
      const reset = secondsOf(response.headers.get('ratelimit-reset'));
      if (response.headers.get('ratelimit-remaining') === '0' && reset !== undefined) waitFor(reset * 1_000);
      return JSON.parse(body);
    }
    const { status } = response;
    if (mayBeMissing && [402, 404].includes(status)) return null;
    if (status === 429 || status >= 500) throw new Busy(status, askedWait(response.headers));
    throw new Error(`${path} responded with ${status}: ${visible(body.slice(0, 300))}`);
  };

  const waitFor = (milliseconds: number) => {
    resumeAt = Math.max(resumeAt, Date.now() + milliseconds);
  };

  return {
    address: base.replace(/\/$/, ''),
    close: async () => undefined,
    ask: async (question) => {
      for (let retry = 0; ; retry += 1) {
        try {
          return await attempt(question);
        } catch (error) {
          signal.throwIfAborted();
          const { name, message, cause } = error as Error & { cause?: { message?: string } };
          const isPassing = error instanceof Busy || ['TypeError', 'TimeoutError', 'SyntaxError'].includes(name);
          if (!isPassing) throw error;
          const asked = error instanceof Busy ? error.wait : undefined;
          if (retry >= RETRIES || (asked ?? 0) > LONGEST_ASKED)
            throw new ConnectionError('connection_lost', `${question.path}: ${cause?.message ?? message}`, {
              cause: error,
            });
          const wait = asked ?? Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** retry);
          if (wait >= 5_000) onWait(`${message}; waiting for ${Math.ceil(wait / 1_000)} seconds`);
          // A limit is one for all requests, and a broken connection only for its own.
          if (error instanceof Busy) waitFor(wait);
          else await delay(wait, undefined, { signal });
        }
      }
    },
  };
}

class Busy extends Error {
  /** Milliseconds that the source asks for. */
  readonly wait: number | undefined;

  constructor(status: number, wait: number | undefined) {
    super(`the source responded with ${status}`);
    this.wait = wait;
  }
}

/** @throws UsageError */
function baseOf(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol === 'https:' || (parsed?.protocol === 'http:' && isLoopback(parsed))) return url;
  throw new UsageError(`${url} is not an address with https`);
}

const secondsOf = (text: string | null) => (text !== null && /^\d{1,6}$/.test(text) ? Number(text) : undefined);

/** `Retry-After` is standard, the others are those of PagerDuty and Opsgenie. */
function askedWait(headers: Headers): number | undefined {
  const date = Date.parse(headers.get('retry-after') ?? '');
  const seconds = ['retry-after', 'ratelimit-reset', 'x-ratelimit-period-in-sec']
    .map((name) => secondsOf(headers.get(name)))
    .find((each) => each !== undefined);
  if (seconds !== undefined) return seconds * 1_000;
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

async function readBody(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  if (response.body === null) return '';
  const body: AsyncIterable<Uint8Array> = response.body;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`a response has more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  // It leaves a byte order mark out.
  return new TextDecoder().decode(Buffer.concat(chunks));
}
