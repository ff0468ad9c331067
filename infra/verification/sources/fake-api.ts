import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface FakeAnswer {
  status: number;
  body: unknown;
}

/** An API of somebody else. */
export interface FakeApi {
  url: string;
  /** What it has seen, and done to the reader. */
  counts: { requests: number; refused: number; cut: number; failed: number; writes: number; largest: number };
  stop(): Promise<void>;
}

export interface FakeOptions {
  /** Returns the answer to a GET that is let in. */
  route: (url: URL) => FakeAnswer;
  isAllowed: (headers: IncomingHttpHeaders) => boolean;
  /** Requests of a second. */
  limit: number;
  /** The headers of a 429, for the seconds until the next request is let in. */
  limitHeaders: (seconds: number) => Record<string, string>;
}

/** Requests of each thousand that break off, fail, or meet a limit, whatever the rate. */
const CUT = [17, 230, 610];
const FAILED = [41, 420];
const LIMITED = [25];

export async function startFakeApi({ route, isAllowed, limit, limitHeaders }: FakeOptions): Promise<FakeApi> {
  const counts = { requests: 0, refused: 0, cut: 0, failed: 0, writes: 0, largest: 0 };
  let [second, inSecond] = [0, 0];
  const send = (response: ServerResponse, { status, body }: FakeAnswer, headers = {}) => {
    const text = JSON.stringify(body);
    counts.largest = Math.max(counts.largest, text.length);
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(text);
  };
  const server = createServer((request, response) => {
    const place = counts.requests % 1_000;
    counts.requests += 1;
    if (request.method !== 'GET') counts.writes += 1;
    const now = Math.floor(Date.now() / 1_000);
    if (now !== second) [second, inSecond] = [now, 0];
    inSecond += 1;
    if (!isAllowed(request.headers)) send(response, { status: 401, body: { message: 'Unauthorized' } });
    else if (inSecond > limit || LIMITED.includes(place)) {
      counts.refused += 1;
      send(response, { status: 429, body: { message: 'Rate Limit Exceeded' } }, limitHeaders(1));
    } else if (FAILED.includes(place)) {
      counts.failed += 1;
      send(response, { status: 503, body: { message: 'Service Unavailable' } });
    } else {
      const answer = route(new URL(request.url ?? '', 'http://fake'));
      if (!CUT.includes(place)) return send(response, answer);
      counts.cut += 1;
      const text = JSON.stringify(answer.body);
      response.writeHead(200, { 'Content-Length': Buffer.byteLength(text) });
      response.write(text.slice(0, Math.ceil(text.length / 2)));
      void delay(5).then(() => response.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
