import { monitorEventLoopDelay } from 'node:perf_hooks';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { withTimeout } from './with-timeout.ts';

export { Counter, Gauge, Histogram } from 'prom-client';
export type Metrics = Registry & {
  /** Ends what is measured continually. */
  stop(): void;
};

/** Milliseconds; scrapers usually wait ten seconds. */
const COLLECT_TIMEOUT = 2_000;

/** A registry that omits metrics which cannot be collected now, and reports their names in a metric of its own. */
class PartialRegistry extends Registry {
  readonly #failures = new Registry();
  readonly #failed = new Gauge({
    name: 'tocsin_metrics_collector_failed',
    help: '1 while a metric is omitted because it cannot be collected in time, 0 once it is back',
    labelNames: ['metric'],
    registers: [this.#failures],
  });
  /** Collections in progress: the next scrape joins a slow one instead of starting another. */
  readonly #running = new Map<string, Promise<string>>();
  readonly #hasFailed = new Set<string>();

  constructor(app: string) {
    super();
    for (const registry of [this, this.#failures]) registry.setDefaultLabels({ app });
  }

  async #textOf(name: string): Promise<string> {
    let running = this.#running.get(name);
    if (running === undefined) {
      running = super.getSingleMetricAsString(name).finally(() => this.#running.delete(name));
      this.#running.set(name, running);
    }
    try {
      const text = await withTimeout(running, COLLECT_TIMEOUT, () => {
        throw new Error('the collection timed out');
      });
      if (this.#hasFailed.has(name)) this.#failed.set({ metric: name }, 0);
      return text;
    } catch {
      // The other metrics are needed most while something is down.
      this.#hasFailed.add(name);
      this.#failed.set({ metric: name }, 1);
      return '';
    }
  }

  override async metrics(): Promise<string> {
    const texts = await Promise.all(this.getMetricsAsArray().map(async ({ name }) => this.#textOf(name)));
    // Last, because it reports failures of the others.
    texts.push(await this.#failures.metrics());
    return texts.filter((text) => text !== '').join('\n\n');
  }
}

/** Milliseconds; the longest interval of a timer. */
const NEVER = 2_147_483_647;

let ofProcess: Registry | undefined;

/** What is measured of the process. Its apps share it, because the collections of garbage are observed until the process ends. */
function processMetrics(): Registry {
  if (ofProcess !== undefined) return ofProcess;
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: NEVER });
  // It would wake the process a hundred times a second; `observeEventLoop` measures the same.
  for (const { name } of registry.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_')) registry.removeSingleMetric(name);
  // Gauges whose names are those of counters.
  for (const name of ['handles', 'requests', 'resources']) registry.removeSingleMetric(`nodejs_active_${name}_total`);
  return (ofProcess = registry);
}

/** Creates an app's registry. Each has its own, so that several apps in one process do not share what they count. */
export function createMetrics(app: string): Metrics {
  const registry = new PartialRegistry(app);
  const shared = processMetrics();
  for (const { name } of shared.getMetricsAsArray()) {
    const metric = shared.getSingleMetric(name);
    if (metric !== undefined) registry.registerMetric(metric);
  }
  return Object.assign(registry, { stop: observeEventLoop(registry) });
}

/** Milliseconds between two samples. */
const SAMPLING_INTERVAL = 20;

/** Adds the delay of the event loop since the last response with metrics, until the returned function is called. */
function observeEventLoop(registry: Registry): () => void {
  const delays = monitorEventLoopDelay({ resolution: SAMPLING_INTERVAL });
  delays.enable();
  // A sample is the time since the one before, so that it contains the interval.
  const seconds = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - SAMPLING_INTERVAL / 1e3);
  new Gauge({
    name: 'tocsin_event_loop_delay_seconds',
    help: 'How late the event loop came to its timers since the last scrape: median, 99th percentile and maximum',
    labelNames: ['statistic'],
    registers: [registry],
    collect() {
      const isEmpty = delays.count === 0;
      const set = (statistic: string, delay: number) => this.set({ statistic }, isEmpty ? 0 : seconds(delay));
      set('p50', delays.percentile(50));
      set('p99', delays.percentile(99));
      set('max', delays.max);
      delays.reset();
    },
  });
  return () => void delays.disable();
}
