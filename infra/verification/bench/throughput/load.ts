/**
 * The clients' process: sends requests on as many connections as there are clients, each one after the other, for a
 * time or until so many are done, and reports how long they took.
 */
import { quantile } from '../../quantile.ts';
import { type Answer, connect } from './connection.ts';
import type { BenchRequest, LoadRequest, LoadResult } from './messages.ts';

function requestText({ method, path, headers, body }: BenchRequest, number: number, revision: number): string {
  const fill = (text: string) => text.replaceAll('{n}', String(number)).replaceAll('{revision}', String(revision));
  const lines = [`${method} ${path} HTTP/1.1`, ...headers.map(fill)];
  const filled = body === undefined ? '' : fill(body);
  if (body !== undefined) {
    lines.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(filled)}`);
  }
  return `${lines.join('\r\n')}\r\n\r\n${filled}`;
}

async function run({ addresses, clients, requests, seconds, count, first }: LoadRequest): Promise<LoadResult> {
  const connections = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const address = addresses[client % addresses.length];
      if (address === undefined) throw new Error('the load needs an address');
      return connect(address);
    }),
  );
  const latencies: number[] = [];
  const failures: Record<string, number> = {};
  let bytes = 0;
  let next = first;
  const start = performance.now();
  const deadline = start + seconds * 1_000;
  const isOver = () => next - first >= count || performance.now() >= deadline;
  const record = ({ status, bytes: received, body }: Answer, milliseconds: number) => {
    latencies.push(milliseconds);
    bytes += received;
    if (status >= 300) {
      const reason = `${status} ${body.slice(0, 200)}`;
      failures[reason] = (failures[reason] ?? 0) + 1;
    }
  };
  await Promise.all(
    connections.map(async (connection, client) => {
      const own = requests.filter((_, index) => index % clients === client);
      const revisions = own.map(({ revision = 0 }) => revision);
      for (let turn = 0; !isOver(); turn = (turn + 1) % own.length) {
        const request = own[turn];
        if (request === undefined) throw new Error('there are fewer requests than clients');
        const text = requestText(request, next, revisions[turn] ?? 0);
        next += 1;
        const sent = performance.now();
        const answer = await connection.send(text);
        record(answer, performance.now() - sent);
        if (request.revision !== undefined) revisions[turn] = revisionIn(answer.body);
      }
    }),
  );
  const elapsed = (performance.now() - start) / 1_000;
  for (const connection of connections) connection.close();
  return {
    requests: latencies.length,
    seconds: elapsed,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    bytes: bytes / Math.max(1, latencies.length),
    failures,
    next,
  };
}

const revisionIn = (body: string) => Number(/"revision":(\d+)/.exec(body)?.[1] ?? 0);

process.on('message', (request: LoadRequest) => {
  run(request).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: (error as Error).message }),
  );
});
process.once('disconnect', () => process.exit());
