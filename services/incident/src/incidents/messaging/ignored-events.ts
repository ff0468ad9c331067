import { QUEUES } from '@tocsin/contracts';
import { Counter, type Metrics } from '@tocsin/runtime';

/** Counts an ignored event: one that names no incident of its workspace. */
export type CountIgnored = (type: string) => void;

export function countIgnored(metrics: Metrics): CountIgnored {
  const counter = new Counter({
    name: 'tocsin_feed_events_ignored_total',
    help: 'Ignored feed events, which name no incident of their workspace, by type',
    labelNames: ['type'],
    registers: [metrics],
  });
  // A counter that appears with its first event hides that event from `rate` and `increase`.
  for (const type of QUEUES.incidentFeeds.bindings) counter.inc({ type }, 0);
  return (type) => counter.inc({ type });
}
