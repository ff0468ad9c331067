import { Histogram, type Logger, type Metrics, traceLogFields } from '@tocsin/runtime';
import type { RequestContext } from './request-context.ts';

/**
 * Writes one log line and one observation for each request, when its response is closed. The path is logged without the
 * query, which may be confidential.
 */
export function accessLog(log: Logger, metrics: Metrics): (context: RequestContext) => void {
  const duration = new Histogram({
    name: 'tocsin_gateway_request_duration_seconds',
    help: 'Duration of requests at the gateway, by operation and status',
    labelNames: ['operation', 'status'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [metrics],
  });
  // None of the properties below is confidential, and to look for some that are takes longer than to write the line.
  const lines = log.child({}, { redact: [] });
  const seriesOf = boundSeries(duration);
  return (context) => {
    const { response } = context;
    const start = performance.now();
    response.on('close', () => {
      const now = performance.now();
      const milliseconds = now - start;
      // The wait for events says nothing about the system.
      const seconds = ((context.waitingSince ?? now) - start) / 1_000;
      seriesOf(context.operation?.id ?? 'none', response.statusCode).observe(seconds);
      lines.info(
        {
          method: context.method,
          path: context.target.path,
          status: response.statusCode,
          duration_ms: Math.round(milliseconds * 10) / 10,
          workspace: context.workspace?.slug ?? context.slug,
          key_id: context.keyId,
          request_id: context.requestId,
          ...traceLogFields(context.trace),
          ...(!response.writableFinished && { aborted: true }),
        },
        'request',
      );
    });
  };
}

/** Returns the series of an operation and a status. Finding it by its labels takes longer than adding to it. */
function boundSeries(duration: Histogram<'operation' | 'status'>) {
  const series = new Map<string, Map<number, ReturnType<typeof duration.labels>>>();
  return (operation: string, status: number) => {
    const byStatus = series.get(operation) ?? new Map<number, ReturnType<typeof duration.labels>>();
    series.set(operation, byStatus);
    const statusSeries = byStatus.get(status) ?? duration.labels({ operation, status });
    byStatus.set(status, statusSeries);
    return statusSeries;
  };
}
