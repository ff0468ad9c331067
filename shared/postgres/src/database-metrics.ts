import type { Knex } from 'knex';
import { Counter, Gauge, type Metrics } from '@tocsin/runtime';
import type { StatementClient } from './composing-client.ts';

/** Adds the metrics of a database's pool. */
export function observeDatabase(database: Knex, metrics: Metrics): void {
  const { leases, watch } = (database.client as StatementClient).connections;
  const { counts } = watch;
  const gauge = (name: string, help: string, read: () => number) =>
    new Gauge({
      name,
      help,
      registers: [metrics],
      collect() {
        this.set(read());
      },
    });
  gauge('tocsin_database_connections_in_use', 'Connections that requests and background work use', () => leases.held);
  gauge('tocsin_database_connections_max', 'Connections that the pool may have', () => leases.limits.all ?? 0);
  gauge('tocsin_database_waiting', 'Requests and background work that wait for a connection', () => leases.waiting);
  gauge('tocsin_database_serving', '0: statements wait, and the database responds to none', () =>
    Number(watch.isServing),
  );
  // The pool counts, because it exists without metrics too.
  const counter = (name: string, help: string, read: () => Readonly<Record<string, number>>) =>
    new Counter({
      name,
      help,
      labelNames: ['reason'],
      registers: [metrics],
      collect() {
        this.reset();
        for (const [reason, count] of Object.entries(read())) this.inc({ reason }, count);
      },
    });
  counter('tocsin_database_refused_total', 'Refused connections, by reason', () => counts.refused);
  counter('tocsin_database_failures_total', 'Failed statements, by reason', () => counts.failed);
  counter('tocsin_database_cancelled_total', 'Cancelled statements of reads, by reason', () => counts.cancelled);
  counter(
    'tocsin_database_abandoned_total',
    'Destroyed connections that did not respond, by reason',
    () => counts.abandoned,
  );
}
