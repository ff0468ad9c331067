import { Histogram, type Logger, type Metrics, traceLogFields } from '@tocsin/runtime';
import type { RequestContext } from './request-context.ts';

/** The services name their operations; however many names they invent, the metric stays small. */
const MAX_OPERATIONS = 2_000;

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
  const labels = new Set<string>();
  const labelOf = (id: string) => {
    if (labels.size < MAX_OPERATIONS) labels.add(id);
    return labels.has(id) ? id : 'other';
  };
  return (context) => {
    const { response } = context;
    const start = performance.now();
    response.once('close', () => {
      const now = performance.now();
      const milliseconds = now - start;
      duration.observe(
        { operation: labelOf(context.operation?.id ?? 'none'), status: response.statusCode },
        // The wait for events says nothing about the system.
        ((context.waitingSince ?? now) - start) / 1_000,
      );
      log.info(
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
