import type { Knex } from '@tocsin/postgres';
import { Counter, Gauge, type Metrics } from '@tocsin/runtime';
import { countFailing } from './store/sending-store.ts';

/** The metrics of destinations in `/metrics`. */
export type DestinationMetrics = ReturnType<typeof destinationMetrics>;

export function destinationMetrics({ registry, database }: { registry: Metrics; database: Knex }) {
  const registers = [registry];
  new Gauge({
    name: 'tocsin_destinations_failing',
    help: 'Destinations whose messages do not arrive',
    registers,
    async collect() {
      this.set(await countFailing(database));
    },
  });
  const messages = new Counter({
    name: 'tocsin_destination_messages_total',
    help: 'Messages to destinations by result',
    labelNames: ['result'],
    registers,
  });
  for (const result of ['sent', 'refused', 'failed']) messages.inc({ result }, 0);
  return { messages };
}
