import { type Knex, query } from '@tocsin/postgres';
import { Counter, Gauge, type Metrics } from '@tocsin/runtime';

/** Counting stops here, so that a scrape takes the same time however long the broker has been away. */
const MAX_COUNTED = 100_000;

/** What became of a row of the outbox in one run of the relay. */
const OUTCOMES = ['confirmed', 'unroutable', 'failed', 'dead_lettered'] as const;
export type RelayOutcome = (typeof OUTCOMES)[number];

/** Adds the metrics of an outbox. Returns the counter of the events that its relay publishes. */
export function observeOutbox(database: Knex, metrics: Metrics): Counter<'outcome'> {
  const registers = [metrics];
  const published = new Counter({
    name: 'tocsin_outbox_published_total',
    help: 'Events published, by outcome',
    labelNames: ['outcome'],
    registers,
  });
  // A counter that appears with its first event hides that event from `rate` and `increase`.
  for (const outcome of OUTCOMES) published.inc({ outcome }, 0);
  new Gauge({
    name: 'tocsin_outbox_waiting',
    help: `Events in the outbox; at most ${MAX_COUNTED} are counted`,
    registers,
    async collect() {
      const [row] = await query<{ waiting: number }>(database, {
        name: 'count-outbox',
        text: `select count(id) as waiting from (select id from outbox limit ${MAX_COUNTED}) as counted`,
      });
      this.set(row?.waiting ?? 0);
    },
  });
  new Gauge({
    name: 'tocsin_outbox_oldest_seconds',
    help: 'How long the oldest event has been in the outbox; 0 if there is none',
    registers,
    async collect() {
      const [row] = await query<{ age: number }>(database, {
        name: 'find-age-of-outbox',
        // By the database's clock on both sides.
        text: `select greatest(0, extract(epoch from now() - created_at))::float8 as age from outbox
          order by id limit 1`,
      });
      this.set(row?.age ?? 0);
    },
  });
  return published;
}
