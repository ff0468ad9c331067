import { Counter, type Metrics } from '@tocsin/runtime';

/** Counts an event of a feed that names no incident of its own workspace, and so changes nothing. */
export type CountIgnored = (type: string) => void;

export function countIgnored(metrics: Metrics): CountIgnored {
  const counter = new Counter({
    name: 'tocsin_feed_events_ignored_total',
    help: 'Events of feeds that name no incident of their workspace, by type',
    labelNames: ['type'],
    registers: [metrics],
  });
  return (type) => counter.inc({ type });
}
