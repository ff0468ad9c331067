import { setTimeout as delay } from 'node:timers/promises';
import { eventually, httpClient } from '@tocsin/testing';
import type { Operation } from '../history/history.ts';
import { followByPolling } from '../history/readers.ts';
import type { Run } from '../history/run.ts';

/** What clients have seen since a moment. */
export interface Observation {
  /** Requests of all clients that the system failed to answer, by status. */
  errors: ReadonlyMap<string, number>;
  /** Seconds until creates succeeded, and from then on all did; 0: all did. */
  refused: number;
  /** Seconds: of the successful creates the slowest. */
  slowest: number;
  /** Seconds from the response to a create until the event feed had it, at most. */
  late: number;
  /** Acknowledged creates that are no longer there, or that the feed does not have. */
  lost: number;
}

/** Creates an incident again and again, whatever happens to the last ones, and notes when each of them is where. */
export interface Probe {
  /** @param from milliseconds of `performance.now()` */
  observe(from: number): Promise<Observation>;
  stop(): Promise<void>;
}

interface Create {
  sentAt: number;
  endedAt: number;
  operation: Operation;
  id: number;
}

/** Milliseconds between two creates, and for the feed to have them. */
const INTERVAL = 500;
const IN_FEED = 60_000;

export function startProbe(run: Run, slug: string): Probe {
  const { history } = run;
  const sender = run.sender(slug);
  const creates: Create[] = [];
  const receivedAt = new Map<string, number>();
  const feed = followByPolling(history, sender);
  const stopping = new AbortController();
  const under = new Set<Promise<void>>();
  const client = () => {
    const headers = { Host: `${slug}.localhost`, Authorization: `Bearer ${sender.token}` };
    return httpClient(history.nextGateway(), headers);
  };

  const create = async (title: string) => {
    const sentAt = performance.now();
    const operation = await history.send(sender, {
      ...{ method: 'POST', path: '/api/v1/incidents', key: title, body: { title } },
    });
    const { id = 0 } = (operation.json['incident'] ?? {}) as { id?: number };
    creates.push({ sentAt, endedAt: performance.now(), operation, id });
  };
  const repeat = async (act: () => void, interval: number) => {
    while (!stopping.signal.aborted) {
      act();
      await delay(interval, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  let count = 0;
  let read = 0;
  const running = [
    repeat(() => {
      const creating: Promise<void> = create(`probe-${(count += 1)}`).finally(() => under.delete(creating));
      under.add(creating);
    }, INTERVAL),
    repeat(() => {
      for (const { request_id: id } of feed.events.slice(read)) receivedAt.set(id ?? '', performance.now());
      read = feed.events.length;
    }, INTERVAL / 10),
  ];

  return {
    observe: async (from) => {
      await Promise.all(under);
      const since = creates.filter(({ sentAt }) => sentAt >= from).toSorted((a, b) => a.sentAt - b.sentAt);
      const done = since.filter(({ operation }) => operation.outcome === 'done');
      const isInFeed = ({ operation }: Create) => receivedAt.has(operation.id);
      await eventually(() => done.every(isInFeed), { within: IN_FEED }).catch(() => undefined);
      const isThere = async (each: Create) =>
        isInFeed(each) && (await client().get(`/api/v1/incidents/${each.id}`)).status === 200;
      const there = await Promise.all(done.map(isThere));
      const last = since.findLastIndex(({ operation }) => operation.outcome !== 'done');
      const seconds = (milliseconds: number) => Math.max(0, milliseconds) / 1_000;
      const begin = since[0]?.operation.start ?? Infinity;
      const failed = history.operations.filter(
        ({ start, status = 599, isCut }) => start >= begin && !isCut && (status >= 500 || status === 429),
      );
      const byStatus = Map.groupBy(failed, ({ status }) => String(status ?? 'no response'));
      return {
        errors: new Map([...byStatus].map(([status, { length }]) => [status, length])),
        refused: last === -1 ? 0 : seconds((since[last + 1]?.sentAt ?? performance.now()) - from),
        slowest: seconds(Math.max(...done.map(({ sentAt, endedAt }) => endedAt - sentAt))),
        late: seconds(
          Math.max(...done.map(({ operation, endedAt }) => (receivedAt.get(operation.id) ?? Infinity) - endedAt)),
        ),
        lost: there.filter((is) => !is).length,
      };
    },
    stop: async () => {
      stopping.abort();
      await Promise.all([...running, ...under]);
      await feed.stop();
    },
  };
}
