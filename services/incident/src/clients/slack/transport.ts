import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import type { FetchFunction } from '@slack/web-api';
import { z } from 'zod';
import { ChatError } from '../chat.ts';
import { rateLimited } from './faults.ts';

/** The way to Slack's API for a few calls in a row. */
export interface Transport {
  /** @throws ChatError unless Slack's API answers, be it with a refusal */
  fetch: FetchFunction;
  /** Leaves no connection open. */
  close(): void;
}

/** Bytes; a page of a thousand channels has a third of it at most. */
const LARGEST_ANSWER = 10_485_760;

const apiAnswer = z.union([z.object({ ok: z.literal(true) }), z.object({ ok: z.literal(false), error: z.string() })]);

/** For how long the API is reached. */
interface Patience {
  deadline: AbortSignal;
  /** Milliseconds that a single call may take. */
  callTimeout: number;
}

/**
 * Reaches the API over one connection, until the deadline. Node's `fetch` would keep a connection that is still being
 * made, and the process with it, for ten seconds after the signal.
 */
export function transport(apiUrl: string, { deadline, callTimeout }: Patience): Transport {
  const { Agent, request: send } = /^https:/i.test(apiUrl) ? https : http;
  const agent = new Agent({ keepAlive: true });

  const exchange = async (signal: AbortSignal, [url, init]: Parameters<FetchFunction>): Promise<Response> => {
    const request = send(url, { method: init?.method, headers: init?.headers, agent, signal });
    // Once it has answered, its errors are those of the answer.
    request.on('error', () => undefined);
    request.end(init?.body);
    // The request itself does not end in an error when the other side changes the protocol.
    const [answer] = (await once(request, 'response', { signal })) as [IncomingMessage];
    const body = await read(answer);
    const { statusCode: status = 0, headers } = answer;
    const retryAfter = headers['retry-after'];
    if (status === 429) throw rateLimited(retryAfter);
    if (status !== 200) {
      throw new ChatError(status < 500 ? 'refused' : 'unavailable', `Slack answers with the status ${status}`);
    }
    if (!isApiAnswer(body)) throw new ChatError('unavailable', 'Slack’s answer is not one of its API');
    return new Response(body, retryAfter === undefined ? {} : { headers: { 'retry-after': retryAfter } });
  };

  return {
    fetch: async (...call) => {
      const signal = AbortSignal.any([deadline, AbortSignal.timeout(callTimeout)]);
      try {
        return await exchange(signal, call);
      } catch (error) {
        if (error instanceof ChatError) throw error;
        const message = signal.aborted ? 'Slack did not answer in time' : 'Slack cannot be reached';
        throw new ChatError('unavailable', message, { cause: error });
      }
    },
    close: () => agent.destroy(),
  };
}

async function read(answer: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > LARGEST_ANSWER) throw new ChatError('unavailable', 'Slack’s answer is too long');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function isApiAnswer(body: string): boolean {
  try {
    return apiAnswer.safeParse(JSON.parse(body)).success;
  } catch {
    return false;
  }
}
