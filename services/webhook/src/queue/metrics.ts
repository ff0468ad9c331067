import type { Knex } from '@tocsin/postgres';
import { Counter, Gauge, Histogram, type Metrics } from '@tocsin/runtime';
import { DEAD_LETTER_REASONS, FAILURE_REASONS, INTERNAL_FAILURES } from './domain/delivery.ts';
import { deliveryStore } from './store/delivery-store.ts';
import type { ReadTime } from '../shared/store/time.ts';

/** The metrics of deliveries in `/metrics`. */
export type WebhookMetrics = ReturnType<typeof webhookMetrics>;

export function webhookMetrics(options: {
  registry: Metrics;
  database: Knex;
  time: ReadTime;
  openBreakers: () => number;
}) {
  const { registry, database, time, openBreakers } = options;
  const registers = [registry];
  observeQueue(registers, database, time);
  new Gauge({
    name: 'tocsin_webhook_breakers_open',
    help: 'Receiver hosts that this process does not send to because they do not respond',
    registers,
    collect() {
      this.set(openBreakers());
    },
  });
  return {
    ...attemptCounters(registers),
    delay: new Histogram({
      name: 'tocsin_webhook_delivery_delay_seconds',
      help: 'Time from when a delivery was queued to its success; without the ones that operators asked for',
      buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200, 86_400],
      registers,
    }),
    duration: new Histogram({
      name: 'tocsin_webhook_attempt_duration_seconds',
      help: 'Duration of attempts, from the DNS lookup to the last byte',
      buckets: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
    stopped: new Counter({
      name: 'tocsin_webhook_stopped_total',
      help: 'Webhooks that five failures in a row have stopped until somebody verifies them again',
      registers,
    }),
    skipped: new Counter({
      name: 'tocsin_webhook_skipped_total',
      help: 'Deliveries that were not queued because their workspace had too many',
      registers,
    }),
    checks: new Counter({
      name: 'tocsin_webhook_checks_total',
      help: 'Checks of receivers by result',
      labelNames: ['result'],
      registers,
    }),
    undecryptable: new Gauge({
      name: 'tocsin_webhook_undecryptable_values',
      help: 'Secrets and URLs of receivers that no configured key decrypts',
      labelNames: ['kind'],
      registers,
    }),
  };
}

/** What waits in the queue, read when the metrics are. */
function observeQueue(registers: Metrics[], database: Knex, time: ReadTime): void {
  const store = deliveryStore(database);
  new Gauge({
    name: 'tocsin_webhook_queue_length',
    help: 'Waiting deliveries by status; held deliveries belong to paused subscriptions',
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
    help: 'How long the oldest due delivery has been due',
    registers,
    async collect() {
      const now = await time(database);
      const due = (await store.oldestDue(now)) ?? now;
      this.set((Date.parse(now) - Date.parse(due)) / 1_000);
    },
  });
}

function attemptCounters(registers: Metrics[]) {
  const attempts = new Counter({
    name: 'tocsin_webhook_attempts_total',
    help: 'Delivery attempts by result; undecryptable and internal are failures inside Tocsin, which use no attempt',
    labelNames: ['result'],
    registers,
  });
  const deadLetters = new Counter({
    name: 'tocsin_webhook_dead_letters_total',
    help: 'Deliveries that failed permanently, by reason',
    labelNames: ['reason'],
    registers,
  });
  // A counter that appears with its first event hides that event from `rate` and `increase`.
  for (const result of ['succeeded', 'deferred', ...FAILURE_REASONS, ...INTERNAL_FAILURES]) attempts.inc({ result }, 0);
  for (const reason of DEAD_LETTER_REASONS) deadLetters.inc({ reason }, 0);
  return { attempts, deadLetters };
}
