import { createServer, type RequestListener } from 'node:http';
import { bind } from '@tocsin/http';

/** Milliseconds; longer than an app waits for its slowest metric. */
const TIMEOUT = 5_000;

export interface MetricsServer {
  /** Of the metrics of all apps. */
  url: string;
  stop(): Promise<void>;
}

/**
 * Serves the metrics of all apps at one address, which stays the same: those of the apps have other ports after each start.
 * @throws the system's error, with `code`, if the port is not available
 */
export async function serveMetrics(port: number, appUrls: readonly string[]): Promise<MetricsServer> {
  const handle: RequestListener = (request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    collect(appUrls).then(
      (text) => response.writeHead(200, { 'Content-Type': 'text/plain; version=0.0.4; charset=utf-8' }).end(text),
      () => response.writeHead(503).end(),
    );
  };
  const server = createServer(handle);
  const bound = await bind(server, { host: '127.0.0.1', port });
  return {
    url: `http://127.0.0.1:${bound.port}/metrics`,
    stop: async () => {
      server.closeAllConnections();
      await bound.close();
    },
  };
}

const collect = async (appUrls: readonly string[]): Promise<string> =>
  mergeMetrics(
    await Promise.all(
      appUrls.map(async (url) => (await fetch(`${url}/metrics`, { signal: AbortSignal.timeout(TIMEOUT) })).text()),
    ),
  );

/** Joins texts with metrics: those of one name must stand together, behind one description. */
function mergeMetrics(texts: readonly string[]): string {
  const families = texts.flatMap((text) => text.split(/^(?=# HELP )/m)).map((family) => family.split('\n'));
  const byName = Map.groupBy(families, ([help = '']) => help.split(' ')[2]);
  return [...byName.values()]
    .flatMap(([first = [], ...others]) => [
      first,
      ...others.map((lines) => lines.filter((line) => !line.startsWith('#'))),
    ])
    .flat()
    .filter((line) => line !== '')
    .map((line) => `${line}\n`)
    .join('');
}
