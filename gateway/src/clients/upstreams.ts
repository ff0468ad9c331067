import { Counter, Gauge, type Logger, type Metrics } from '@tocsin/runtime';
import type { ServiceClient } from '@tocsin/service';
import { type Upstream, upstream } from './upstream.ts';

export interface Upstreams extends ServiceClient {
  /** By the names that the API descriptions give the services. */
  readonly byService: ReadonlyMap<string, Upstream>;
}

export function openUpstreams(options: {
  urls: Readonly<Record<string, string>>;
  log: Logger;
  metrics: Metrics;
}): Upstreams {
  const { urls, log, metrics } = options;
  const failures = new Counter({
    name: 'tocsin_gateway_upstream_failures_total',
    help: 'Requests to which a service did not respond',
    labelNames: ['upstream'],
    registers: [metrics],
  });
  // A counter that appears with its first failure hides that failure from `rate` and `increase`.
  for (const name of Object.keys(urls)) failures.inc({ upstream: name }, 0);
  const byService = new Map(
    Object.entries(urls).map(([name, url]) => [
      name,
      upstream({ name, url, log, onFailure: () => failures.inc({ upstream: name }) }),
    ]),
  );
  new Gauge({
    name: 'tocsin_gateway_upstream_available',
    help: 'Whether the gateway forwards requests to a service',
    labelNames: ['upstream'],
    registers: [metrics],
    collect() {
      for (const [name, { available }] of byService) this.set({ upstream: name }, available ? 1 : 0);
    },
  });
  return {
    byService,
    close: () => {
      for (const { close } of byService.values()) close();
    },
  };
}
