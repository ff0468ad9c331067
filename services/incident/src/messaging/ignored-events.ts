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
  return (type) => counter.inc({ type });
}
