import { collectDefaultMetrics, Registry } from 'prom-client';

export { Counter, Gauge, Histogram } from 'prom-client';
export type Metrics = Registry;

/** One registry an app, so that several apps in one process do not count into each other's figures. */
export function createMetrics(app: string): Metrics {
  const registry = new Registry();
  registry.setDefaultLabels({ app });
  collectDefaultMetrics({ register: registry });
  return registry;
}
