/**
 * `chat-commands` is what people ask for in the workspace's Slack (contract: Chat) (ADR 125). One process holds the socket
 * of a connection under a lease (`sockets.ts`). Each request is acknowledged before any work, since Slack waits three
 * seconds and then repeats it; a repetition is recognised by the ID of what somebody did. Who asks is the user whose email
 * address Slack has: the gateway says what that user may do, and the operations of this service run with it
 * (`operations.ts`), so a command needs no checks of its own. Creates have an idempotency key, changes a revision; so a
 * crash after the acknowledgement loses a request, and nothing happens twice. The answer goes to whoever has asked alone.
 */
import { boundedCache, Counter, type Logger, type Metrics } from '@tocsin/runtime';
import type { SlackEnvelope } from '../chat/clients/slack/socket.ts';
import { answerOf, type SendAnswer } from './clients/answers.ts';
import { type ChatRequest, readRequest } from './domain/slack-request.ts';

/** Does what is asked for, and returns the answer. Refusals are answers, too. */
type Carry = (workspaceId: number, request: ChatRequest) => Promise<{ outcome: 'done' | 'refused'; text: string }>;

/** Requests of a user within a minute. */
const PER_MINUTE = 30;
/** Requests of a workspace that this process works on at once. */
const PER_WORKSPACE = 8;
const MINUTE = 60_000;
/** Milliseconds in which Slack repeats what was not acknowledged. */
const REPETITION_TIME = 15 * MINUTE;
/** Of what is remembered of users, and of requests: some thousands of each. */
const CACHE_BYTES = 4 * 1_048_576;

const TOO_MANY = `These are more than ${PER_MINUTE} commands in a minute; nothing was done. Try again in a minute.`;
const TOO_MANY_AT_ONCE = 'Too many commands of your workspace are under way; nothing was done. Try again in a moment.';
const FAILED = 'Tocsin could not do it now, or does not know whether it did. Look at the incident, and try again.';

/** Receives the requests of all sockets. */
export function receiveRequests(options: { carry: Carry; send: SendAnswer; log: Logger; metrics: Metrics }) {
  const { carry, send, log } = options;
  const seen = boundedCache<string, { at: number }>({ bytes: CACHE_BYTES, ttl: REPETITION_TIME });
  const countOf = requestCounts();
  const underWay = new Map<number, Set<Promise<void>>>();
  const counter = requestCounter(options.metrics);

  /** Why a request is not carried out; undefined: it is. */
  const limitOf = (workspaceId: number, requests: number): string | undefined => {
    if (requests > PER_MINUTE) return TOO_MANY;
    return (underWay.get(workspaceId)?.size ?? 0) >= PER_WORKSPACE ? TOO_MANY_AT_ONCE : undefined;
  };

  const answer = async (workspaceId: number, { responseUrl }: ChatRequest, text: string) => {
    if (!(await send(responseUrl, text))) log.warn({ workspace: workspaceId }, 'the answer to a command was not sent');
  };

  const work = async (workspaceId: number, request: ChatRequest) => {
    const { outcome, text } = await carry(workspaceId, request).catch((error: unknown) => {
      log.error({ err: error, workspace: workspaceId }, 'a command of a chat failed');
      return { outcome: 'failed' as const, text: FAILED };
    });
    counter.inc({ outcome });
    await answer(workspaceId, request, text);
  };

  const start = (workspaceId: number, run: () => Promise<void>) => {
    const running = underWay.get(workspaceId) ?? new Set();
    underWay.set(workspaceId, running);
    const ended = run()
      .catch((error: unknown) => log.error({ err: error, workspace: workspaceId }, 'a command of a chat was lost'))
      .finally(() => {
        running.delete(ended);
        if (running.size === 0) underWay.delete(workspaceId);
      });
    running.add(ended);
  };

  const receive = async (workspaceId: number, envelope: SlackEnvelope): Promise<void> => {
    const request = readRequest(envelope);
    if (request === undefined) return envelope.acknowledge();
    const key = `${workspaceId}/${request.id}`;
    if (seen.has(key)) return envelope.acknowledge();
    seen.set(key, { at: Date.now() });
    const requests = countOf(workspaceId, request);
    const limit = limitOf(workspaceId, requests);
    try {
      await envelope.acknowledge(limit !== undefined && envelope.takesAnswer ? answerOf(limit) : undefined);
    } catch (error) {
      // Slack sends it again.
      seen.delete(key);
      throw error;
    }
    if (limit === undefined) start(workspaceId, async () => work(workspaceId, request));
    else {
      counter.inc({ outcome: 'limited' });
      // Of a flood, only the first request costs a call.
      const isFirst = requests === PER_MINUTE + 1;
      if (isFirst && !envelope.takesAnswer) start(workspaceId, async () => answer(workspaceId, request, limit));
    }
  };

  return {
    receive: (workspaceId: number, envelope: SlackEnvelope): void => {
      receive(workspaceId, envelope).catch((error: unknown) => {
        log.warn({ err: error, workspace: workspaceId }, 'a request of a chat was not acknowledged');
      });
    },
    /** Waits until all requests have their answers. */
    drain: async (): Promise<void> => {
      await Promise.all([...underWay.values()].flatMap((running) => [...running]));
    },
  };
}

function requestCounter(metrics: Metrics): Counter<'outcome'> {
  const counter = new Counter({
    name: 'tocsin_chat_requests_total',
    help: 'Requests of people in chats, by outcome',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  // A counter that appears with its first request hides that request from `rate` and `increase`.
  for (const outcome of ['done', 'refused', 'limited', 'failed']) counter.inc({ outcome }, 0);
  return counter;
}

/** Counts the requests of each user, in a minute that begins with the first of them. */
function requestCounts() {
  const counts = boundedCache<string, { requests: number }>({ bytes: CACHE_BYTES, ttl: MINUTE });
  return (workspaceId: number, { userId }: ChatRequest): number => {
    const key = `${workspaceId}/${userId}`;
    const count = counts.get(key) ?? { requests: 0 };
    if (count.requests === 0) counts.set(key, count);
    count.requests += 1;
    return count.requests;
  };
}
