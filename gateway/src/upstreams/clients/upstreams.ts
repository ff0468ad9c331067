import { type AddressChange, serviceAddresses } from '@tocsin/http';
import { Counter, Gauge, type Logger, type Metrics } from '@tocsin/runtime';
import type { ServiceClient } from '@tocsin/service-host';
import { type Upstream, upstream } from './upstream.ts';

export interface Upstreams extends ServiceClient {
  /** By the names that the API descriptions give the services. */
  readonly byService: ReadonlyMap<string, Upstream>;
  /** Adds a service whose URL became known later. */
  open(name: string, urls: readonly string[]): void;
}

const STATES = ['up', 'draining', 'down'] as const;

/** @param options.urls of each service, one or several */
export function openUpstreams(options: {
  urls: Readonly<Record<string, readonly string[]>>;
  log: Logger;
  metrics: Metrics;
}): Upstreams {
  const { log, metrics } = options;
  const counterOf = (name: string, help: string) =>
    new Counter({ name, help, labelNames: ['upstream'], registers: [metrics] });
  const failures = counterOf('tocsin_gateway_upstream_failures_total', 'Requests to which a service did not respond');
  const repeats = counterOf(
    'tocsin_gateway_upstream_repeats_total',
    'Requests sent a second time because the first attempt failed',
  );
  const byService = new Map<string, Upstream>();
  const open = (name: string, urls: readonly string[]) => {
    byService.set(
      name,
      upstream({
        name,
        addresses: serviceAddresses({ urls, onChange: (change) => logChange(log, name, change) }),
        log,
        onFailure: () => failures.inc({ upstream: name }),
        onRepeat: () => repeats.inc({ upstream: name }),
      }),
    );
    // A counter that appears with its first failure hides that failure from `rate` and `increase`.
    for (const counter of [failures, repeats]) counter.inc({ upstream: name }, 0);
  };
  for (const [name, urls] of Object.entries(options.urls)) open(name, urls);
  observe(metrics, byService);
  return {
    byService,
    open,
    close: () => {
      for (const { addresses } of byService.values()) addresses.close();
    },
  };
}

function observe(metrics: Metrics, byService: Upstreams['byService']): void {
  new Gauge({
    name: 'tocsin_gateway_upstream_available',
    help: 'Whether the gateway forwards requests to a service',
    labelNames: ['upstream'],
    registers: [metrics],
    collect() {
      for (const [name, { addresses }] of byService)
        this.set({ upstream: name }, addresses.all.some(({ health }) => health.state !== 'down') ? 1 : 0);
    },
  });
  new Gauge({
    name: 'tocsin_gateway_upstream_addresses',
    help: 'The addresses of a service, by their state',
    labelNames: ['upstream', 'state'],
    registers: [metrics],
    collect() {
      for (const [name, { addresses }] of byService) {
        for (const state of STATES)
          this.set({ upstream: name, state }, addresses.all.filter(({ health }) => health.state === state).length);
      }
    },
  });
}

function logChange(log: Logger, service: string, { address, available, failure }: AddressChange): void {
  const fields = { upstream: service, address: address.name };
  switch (address.health.state) {
    case 'up':
      log.warn(fields, 'a service responds again');
      break;
    case 'draining':
      log.info(fields, 'a process of a service stops');
      break;
    case 'down':
      if (available) log.warn({ ...fields, err: failure }, 'a process of a service does not respond; others do');
      else log.warn({ ...fields, err: failure }, 'a service does not respond');
  }
}
