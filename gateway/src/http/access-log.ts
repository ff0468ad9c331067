import { Histogram, type Logger, type Metrics } from '@tocsin/runtime';
import type { Exchange } from './exchange.ts';

/**
 * One line and one observation for each request, when it is over. The path without its query: what a client searches for
 * is its own business.
 */
export function accessLog(log: Logger, metrics: Metrics): (exchange: Exchange) => void {
  const duration = new Histogram({
    name: 'tocsin_gateway_request_duration_seconds',
    help: 'Duration of requests at the gateway, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  return (exchange) => {
    const { response } = exchange;
    const start = performance.now();
    response.once('close', () => {
      const milliseconds = performance.now() - start;
      duration.observe(
        { operation: exchange.operation?.id ?? 'none', status: response.statusCode },
        milliseconds / 1_000,
      );
      log.info(
        {
          method: exchange.method,
          path: exchange.target.path,
          status: response.statusCode,
          duration_ms: Math.round(milliseconds * 10) / 10,
          workspace: exchange.workspace,
          key_id: exchange.keyId,
          request_id: exchange.requestId,
          ...(!response.writableFinished && { aborted: true }),
        },
        'request',
      );
    });
  };
}
