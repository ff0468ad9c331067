import { setTimeout as delay } from 'node:timers/promises';
import type { Envelope } from '@tocsin/schemas';
import { httpClient, openEventStream, type StreamReader } from '@tocsin/testing';
import type { History, Sender } from './history.ts';
import type { Random } from './random.ts';

/** Follows the event feed of a workspace, whatever fails, and keeps every event in its order. */
export interface FeedReader {
  readonly events: readonly Envelope[];
  stop(): Promise<void>;
}

const headersOf = ({ slug, token }: Sender) => ({ Host: `${slug}.localhost`, Authorization: `Bearer ${token}` });

/** Milliseconds before the next attempt. */
const WAIT = 100;
/** Refusals that end with a fault, and not by themselves. */
const isFinal = (status: number) => status >= 400 && status < 500 && status !== 429;

/** Long polls from the beginning. */
export function followByPolling(history: History, sender: Sender): FeedReader {
  const events: Envelope[] = [];
  let isStopped = false;
  const run = async () => {
    for (let position = 'from=beginning'; !isStopped;) {
      const client = httpClient(history.nextGateway(), headersOf(sender));
      const answer = await client.get(`/api/v1/events?limit=100&wait=2&${position}`).catch(() => undefined);
      if (answer?.status === 200) {
        const page = answer.body as { events: Envelope[]; pagination: { next_cursor: string } };
        events.push(...page.events);
        position = `after=${encodeURIComponent(page.pagination.next_cursor)}`;
        continue;
      }
      history.met.see('a failed poll');
      if (answer !== undefined && isFinal(answer.status)) {
        history.violations.push({ what: 'a refused poll', operations: [], more: answer.text });
        return;
      }
      await delay(WAIT);
    }
  };
  const running = run();
  return {
    events,
    stop: async () => {
      isStopped = true;
      await running;
    },
  };
}

/** Server-sent events from the beginning, over connections that it breaks itself. */
export function followByStream(history: History, sender: Sender, random: Random): FeedReader {
  const events: Envelope[] = [];
  let isStopped = false;
  let lastId: string | undefined;
  let current: StreamReader | undefined;
  const follow = async (stream: StreamReader) => {
    const most = 1 + random.int(60);
    let taken = 0;
    const take = () => {
      const received = stream.messages.slice(taken, most);
      if (taken === 0 && received.length > 0 && lastId !== undefined) history.met.see('a resumed stream');
      taken += received.length;
      events.push(...received.map(({ data }) => data as Envelope));
      // Behind the events that were taken, and not behind all that have arrived.
      lastId = received.at(-1)?.id ?? lastId;
      if (taken === most) stream.close();
    };
    stream.response.on('data', take);
    take();
    await stream.ended;
  };
  const run = async () => {
    while (!isStopped) {
      const headers = { ...headersOf(sender), ...(lastId !== undefined && { 'Last-Event-ID': lastId }) };
      const url = `${history.nextGateway()}/api/v1/events?from=beginning`;
      current = await openEventStream(url, headers).catch(() => undefined);
      const status = current?.response.statusCode ?? 0;
      if (current !== undefined && status === 200) await follow(current);
      else if (isFinal(status)) {
        history.violations.push({ what: 'a refused stream', operations: [], more: status });
        return;
      }
      current?.close();
      await delay(WAIT / 2);
    }
  };
  const running = run();
  return {
    events,
    stop: async () => {
      isStopped = true;
      current?.close();
      await running;
    },
  };
}
