import { Counter, Gauge, Histogram, type Knex, type Metrics } from '@tocsin/runtime';
import { deliveryStore } from '../store/delivery-store.ts';
import type { Time } from '../store/time.ts';

/** What operators can see of the deliveries in `/metrics`. */
export interface Figures {
  /** Attempts by what became of them: `succeeded`, `deferred`, or the reason of their failure. */
  attempts: Counter<'result'>;
  duration: Histogram;
  /** Deliveries that ended without success. */
  deadLetters: Counter<'reason'>;
  /** Deliveries that found their workspace's queue full. */
  skipped: Counter;
  checks: Counter<'result'>;
}

export function figures(options: {
  metrics: Metrics;
  database: Knex;
  time: Time;
  openBreakers: () => number;
}): Figures {
  const { metrics, database, time, openBreakers } = options;
  const registers = [metrics];
  const store = deliveryStore(database);
  new Gauge({
    name: 'tocsin_webhook_queue_length',
    help: 'Deliveries that wait, by status; held ones wait for their paused subscription',
    labelNames: ['status'],
    registers,
    async collect() {
      const { queued, held } = await store.lengths();
      this.set({ status: 'queued' }, queued);
      this.set({ status: 'held' }, held);
    },
  });
  new Gauge({
    name: 'tocsin_webhook_oldest_due_seconds',
    help: 'For how long the delivery that waits longest has been due',
    registers,
    async collect() {
      const now = await time(database);
      const due = (await store.oldestDue(now)) ?? now;
      this.set((Date.parse(now) - Date.parse(due)) / 1_000);
    },
  });
  new Gauge({
    name: 'tocsin_webhook_breakers_open',
    help: 'Receivers that this process waits for because they do not answer',
    registers,
    collect() {
      this.set(openBreakers());
    },
  });
  return {
    attempts: new Counter({
      name: 'tocsin_webhook_attempts_total',
      help: 'Attempts to deliver, by result',
      labelNames: ['result'],
      registers,
    }),
    duration: new Histogram({
      name: 'tocsin_webhook_attempt_duration_seconds',
      help: 'Duration of attempts, from the look-up of the name to the last byte',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    deadLetters: new Counter({
      name: 'tocsin_webhook_dead_letters_total',
      help: 'Deliveries that ended without success, by reason',
      labelNames: ['reason'],
      registers,
    }),
    skipped: new Counter({
      name: 'tocsin_webhook_skipped_total',
      help: 'Deliveries that were not queued because their workspace had too many',
      registers,
    }),
    checks: new Counter({
      name: 'tocsin_webhook_checks_total',
      help: 'Checks of receivers, by result',
      labelNames: ['result'],
      registers,
    }),
  };
}
