import type { Envelope } from '@tocsin/contracts';
import type { Client } from '@tocsin/testing';

/** Follows the event feed, whatever fails, and keeps every event in its order. */
export interface FeedFollower {
  readonly events: readonly Envelope[];
  /** How often a request failed or a connection broke. */
  readonly interruptions: number;
  stop(): Promise<void>;
}

/** Long polls from the beginning. */
export function followByPolling(client: Client): FeedFollower {
  const events: Envelope[] = [];
  let interruptions = 0;
  let stopped = false;
  const isStopped = () => stopped;
  const run = async () => {
    for (let position = 'from=beginning'; !isStopped();) {
      const answer = await client.get(`/api/v1/events?limit=100&wait=2&${position}`).catch(() => undefined);
      if (answer?.status === 200) {
        events.push(...(answer.body.events as Envelope[]));
        position = `after=${encodeURIComponent(answer.body.pagination.next_cursor as string)}`;
      } else {
        interruptions += 1;
        if (answer !== undefined && answer.status !== 429 && answer.status < 500) throw new Error(answer.text);
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    }
  };
  const running = run();
  return {
    events,
    get interruptions() {
      return interruptions;
    },
    stop: async () => {
      stopped = true;
      await running;
    },
  };
}

/**
 * Reads server-sent events from the beginning, and breaks its own connections at random.
 * @param options.random numbers from 0 to 1
 */
export function followByStream(options: {
  url: string;
  headers: Record<string, string>;
  random: () => number;
}): FeedFollower {
  const { url, headers, random } = options;
  const events: Envelope[] = [];
  let interruptions = 0;
  let lastId: string | undefined;
  const stopping = new AbortController();

  const take = (block: string) => {
    const lines = block.split('\n');
    const value = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = value('data');
    if (data !== undefined) events.push(JSON.parse(data) as Envelope);
    lastId = value('id') ?? lastId;
  };
  const read = async () => {
    const cut = new AbortController();
    const signal = AbortSignal.any([stopping.signal, cut.signal]);
    const response = await fetch(`${url}/api/v1/events?from=beginning`, {
      headers: { ...headers, Accept: 'text/event-stream', ...(lastId !== undefined && { 'Last-Event-ID': lastId }) },
      signal,
    });
    if (response.status !== 200) throw new Error(await response.text());
    const left = Math.ceil(random() * 60_000);
    let taken = 0;
    let text = '';
    for await (const chunk of response.body as AsyncIterable<Uint8Array>) {
      taken += chunk.length;
      text += Buffer.from(chunk).toString('utf8');
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) take(block);
      if (taken > left) cut.abort();
    }
  };
  const run = async () => {
    while (!stopping.signal.aborted) {
      await read().catch(() => undefined);
      interruptions += 1;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const running = run();
  return {
    events,
    get interruptions() {
      return interruptions;
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
