import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { type FetchFunction, type Logger, LogLevel, WebClient } from '@slack/web-api';
import { inSpan, requestSpan } from '@tocsin/runtime';
import { type EgressProxy, tunnelAgent } from '@tocsin/safe-http';
import { z } from 'zod';
import { ChatError } from '../chat.ts';
import { rateLimited, toChatError } from './errors.ts';

/** Sends a sequence of calls to Slack's API. */
interface Transport {
  /** @throws ChatError unless Slack's API responds, with success or an error code */
  fetch: FetchFunction;
  /** Closes all connections. */
  close(): void;
}

/** A page of a thousand channels takes at most a third of it. */
const MAX_RESPONSE_BYTES = 10_485_760;

const apiResponse = z.union([z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false), error: z.string() })]);

interface TransportOptions {
  proxy: EgressProxy | undefined;
  /** Cancels all calls. */
  deadline: AbortSignal;
  /** Milliseconds for one call. */
  callTimeout: number;
}

/**
 * Sends calls over one connection until the deadline. Node's `fetch` is not used: after an abort it keeps a connection
 * attempt, and so the process, alive for ten seconds.
 */
export function transport(apiUrl: string, { proxy, deadline, callTimeout }: TransportOptions): Transport {
  const { Agent, request: send } = /^https:/i.test(apiUrl) ? https : http;
  const proxyUrl = proxy?.urlFor(new URL(apiUrl));
  const closing = new AbortController();
  const agent =
    proxyUrl === undefined
      ? new Agent({ keepAlive: true })
      : tunnelAgent(proxyUrl, AbortSignal.any([deadline, closing.signal]));

  const sendRequest = async (signal: AbortSignal, [url, init]: Parameters<FetchFunction>): Promise<Response> => {
    const request = send(url, { method: init?.method, headers: init?.headers, agent, signal });
    // After the response has begun, its stream reports the errors; this listener only prevents an uncaught exception.
    request.on('error', () => undefined);
    request.end(init?.body);
    // The signal also ends the wait if the server switches protocols, in which case the request reports no error.
    const [response] = (await once(request, 'response', { signal })) as [IncomingMessage];
    const body = await readBody(response);
    const { statusCode: status = 0, headers } = response;
    const retryAfter = headers['retry-after'];
    if (status === 429) throw rateLimited(retryAfter);
    if (status !== 200) {
      throw new ChatError(status < 500 ? 'refused' : 'unavailable', `Slack returned the status ${status}`);
    }
    if (!isApiResponse(body)) throw new ChatError('unavailable', 'Slack’s response is not from its API');
    return new Response(body, retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } });
  };

  return {
    fetch: async (...call) => {
      const signal = AbortSignal.any([deadline, AbortSignal.timeout(callTimeout)]);
      const url = new URL(String(call[0]));
      try {
        // The path is the name of the method; arguments and the token are in the body and a header.
        return await inSpan(requestSpan('POST', url, url.pathname), async () => sendRequest(signal, call));
      } catch (error) {
        if (error instanceof ChatError) throw error;
        const message = signal.aborted ? 'Slack did not respond in time' : 'Cannot reach Slack';
        throw new ChatError('unavailable', message, { cause: error });
      }
    },
    close: () => {
      closing.abort();
      agent.destroy();
    },
  };
}

async function readBody(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_RESPONSE_BYTES) throw new ChatError('unavailable', 'Slack’s response is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isApiResponse(body: string): boolean {
  try {
    return apiResponse.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}

export interface SlackOptions {
  /** A bot's token. */
  token: string;
  /** The API's base URL, with or without a trailing slash; default: Slack's. */
  apiUrl: string | undefined;
  proxy?: EgressProxy | undefined;
  /** Milliseconds for one call of the port, including all its requests to Slack. */
  timeout: number;
  /** Milliseconds for one request to Slack; default: `timeout`. */
  callTimeout?: number;
  /** Cancels the current call. */
  signal?: AbortSignal | undefined;
}

/** Runs one call of the port with a Slack client. @throws ChatError and no other error */
export type SlackConnection = <Result>(work: (slack: WebClient) => Promise<Result>) => Promise<Result>;

export const SLACK_API_URL = 'https://slack.com/api/';
/** The characters that a header can carry without spaces. */
const TOKEN_PATTERN = /^[!-~]+$/;

const ignore = () => undefined;
/** The library logs channel names and other customer data; our errors contain what is needed. */
export const SILENT_LOGGER: Logger = {
  debug: ignore,
  info: ignore,
  warn: ignore,
  error: ignore,
  setLevel: ignore,
  getLevel: () => LogLevel.ERROR,
  setName: ignore,
};

export function slackConnection({
  token,
  apiUrl = SLACK_API_URL,
  proxy,
  timeout,
  callTimeout = timeout,
  signal,
}: SlackOptions): SlackConnection {
  return async (work) => {
    if (!TOKEN_PATTERN.test(token)) throw new ChatError('not_connected', 'The token is malformed');
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), timeout);
    const cancellation = signal === undefined ? deadline.signal : AbortSignal.any([deadline.signal, signal]);
    const { fetch, close } = transport(apiUrl, { proxy, deadline: cancellation, callTimeout });
    try {
      return await work(
        new WebClient(token, { slackApiUrl: apiUrl, fetch, logger: SILENT_LOGGER, retryConfig: { retries: 0 } }),
      );
    } catch (error) {
      throw toChatError(error);
    } finally {
      clearTimeout(timer);
      close();
    }
  };
}
