/** The process of the clients: each sends its own part of the requests in turns, one after the other, on one connection. */
import { setTimeout as delay } from 'node:timers/promises';
import { Client } from 'undici';
import { quantile } from '../quantile.ts';

/** `{n}` in the headers and the body is replaced by a number that no other request of this process has. */
export interface LoadRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  headers: Readonly<Record<string, string>>;
  /** JSON. */
  body?: string;
  /** The revision that the request names at first; afterwards it names that of the last response. */
  revision?: number;
}

export interface Load {
  origin: string;
  /** Several gateways, which the clients share; default: the one of `origin`. */
  origins?: readonly string[];
  clients: number;
  /** At least as many as clients. */
  requests: readonly LoadRequest[];
  /** It ends after this time, or after so many requests. */
  seconds?: number;
  count?: number;
  /** Requests a second of all clients together, at most; by default as many as they can. */
  rate?: number | undefined;
}

export interface LoadResult {
  requests: number;
  seconds: number;
  /** Milliseconds. */
  p50: number;
  p99: number;
}

let number = 0;

async function run({
  origin,
  origins = [origin],
  clients,
  requests,
  seconds = Infinity,
  count = Infinity,
  rate,
}: Load): Promise<LoadResult> {
  const latencies: number[] = [];
  let begun = 0;
  const start = performance.now();
  const send = async (client: number): Promise<void> => {
    const requestsOfClient = requests
      .filter((_, index) => index % clients === client)
      .map((request) => ({ ...request }));
    const connection = new Client(origins[client % origins.length] ?? origin);
    for (
      let turn = 0;
      begun < count && performance.now() - start < seconds * 1_000;
      turn = (turn + 1) % requestsOfClient.length
    ) {
      const due = rate === undefined ? undefined : start + (begun / rate) * 1_000;
      begun += 1;
      if (due !== undefined) await delay(due - performance.now());
      const request = requestsOfClient[turn];
      if (request === undefined) throw new Error('there are fewer requests than clients');
      const sentAt = performance.now();
      const { statusCode, text } = await answerTo(connection, request);
      if (statusCode >= 300) throw new Error(`${request.path}: ${statusCode} ${text.slice(0, 200)}`);
      latencies.push(performance.now() - sentAt);
      if (request.revision !== undefined) request.revision = Number(/"revision":(\d+)/.exec(text)?.[1]);
    }
    await connection.close();
  };
  await Promise.all(Array.from({ length: clients }, async (_, client) => send(client)));
  return {
    requests: latencies.length,
    seconds: (performance.now() - start) / 1_000,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
  };
}

async function answerTo(connection: Client, { method, path, headers, body, revision }: LoadRequest) {
  number += 1;
  const response = await connection.request({
    method,
    path,
    headers: {
      ...headers,
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(revision !== undefined && { 'if-service-resource-version': String(revision) }),
    },
    ...(body !== undefined && { body: body.replaceAll('{n}', String(number)) }),
  });
  return { statusCode: response.statusCode, text: await response.body.text() };
}

process.on('message', (load: Load) => {
  run(load).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.once('disconnect', () => process.exit());
process.send?.({});
