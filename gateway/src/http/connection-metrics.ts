import { Counter, type Metrics } from '@tocsin/runtime';

/** Counts the connections that the gateway closes because there are too many. */
export function connectionMetrics(metrics: Metrics): (reason: 'refused' | 'idle') => void {
  const closed = new Counter({
    name: 'tocsin_gateway_connections_closed_total',
    help: 'Connections that were refused, or closed while idle to make room for another one',
    labelNames: ['reason'],
    registers: [metrics],
  });
  // A counter that appears with its first connection hides that connection from `rate` and `increase`.
  for (const reason of ['refused', 'idle']) closed.inc({ reason }, 0);
  return (reason) => closed.inc({ reason });
}
