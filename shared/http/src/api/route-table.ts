import type { RequestListener } from 'node:http';
import { Histogram, type Metrics, runInContext } from '@tocsin/runtime';
import type { Route } from '../contracts/contract.ts';
import { type Exchange, pathOf } from '../server/exchange.ts';
import { parametersIn, PathTree } from './path-tree.ts';
import { traceForwarded } from '../server/request-span.ts';

/** Handles a request for an operation. */
export type ExchangeHandler = (exchange: Exchange) => Promise<void>;

interface TableOptions {
  handlerOf: (route: Route) => ExchangeHandler;
  /** Sends what a handler has thrown. */
  onError: (exchange: Exchange, error: unknown) => void;
  /** Handles a request for no operation. */
  otherwise: RequestListener;
  metrics: Metrics;
}

interface TableEntry {
  route: Route;
  handle: ExchangeHandler;
  observe: (exchange: Exchange, start: number) => void;
}

type Incoming = Pick<Exchange, 'request' | 'response'> & { path: string };

export interface ServiceRoutes {
  listener: RequestListener;
  /** The methods of a path; none: it is unknown. */
  methodsAt(path: string): string[];
}

/** Finds the operation of a request by its method and path, and handles and measures it. */
export function routeTable(routes: readonly Route[], options: TableOptions): ServiceRoutes {
  const { handlerOf, onError, otherwise, metrics } = options;
  const observed = durationMetric(metrics);
  const tree = new PathTree<Map<string, TableEntry>>();
  for (const route of routes) {
    const entry = { route, handle: handlerOf(route), observe: observed(route.id) };
    const entries = tree.at(route.path, () => new Map<string, TableEntry>());
    entries.set(route.method.toUpperCase(), entry);
    if (route.method === 'get') entries.set('HEAD', entry);
  }
  const listener: RequestListener = (request, response) => {
    const path = pathOf(request);
    const entry = tree.find(path)?.get(request.method ?? '');
    if (entry === undefined) otherwise(request, response);
    else void run(entry, { request, response, path, onError });
  };
  return { listener, methodsAt: (path) => [...(tree.find(path)?.keys() ?? [])].sort() };
}

async function run(
  { route, handle, observe }: TableEntry,
  { request, response, path, onError }: Incoming & Pick<TableOptions, 'onError'>,
): Promise<void> {
  const start = performance.now();
  const exchange: Exchange = { request, response, params: {}, workspace: undefined, waitingSince: undefined };
  response.on('close', () => observe(exchange, start));
  try {
    Object.assign(exchange, { params: decoded(parametersIn(path, route.path)) });
    await runInContext(traceForwarded(request, response, route.path), async () => handle(exchange));
  } catch (error) {
    onError(exchange, error);
  }
}

/** @throws URIError */
const decoded = (params: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));

/** Returns a factory of functions that measure the requests of one route. */
function durationMetric(metrics: Metrics): (route: string) => TableEntry['observe'] {
  const duration = new Histogram({
    name: 'tocsin_http_request_duration_seconds',
    help: 'Duration of requests, by route and status',
    labelNames: ['route', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  return (route) => {
    // Finding the series of labels takes longer than adding to it.
    const byStatus = new Map<number, ReturnType<typeof duration.labels>>();
    return ({ response: { statusCode: status }, waitingSince }, start) => {
      const series = byStatus.get(status) ?? duration.labels({ route, status });
      byStatus.set(status, series);
      series.observe(((waitingSince ?? performance.now()) - start) / 1_000);
    };
  };
}
