import type { QueueDefinition } from '@tocsin/schemas';
import { Counter, Gauge, Histogram, type Metrics } from '@tocsin/runtime';
import type { Broker } from './broker.ts';

/**
 * What became of a message in one delivery. `unknown_type`: it was acknowledged, since this release does not know its
 * type; `returned`: it went back to the queue because the database was unavailable; `interrupted`: because the process
 * stops; `failed`: the broker delivers it again, up to the delivery limit.
 */
const OUTCOMES = ['handled', 'duplicate', 'unknown_type', 'malformed', 'failed', 'returned', 'interrupted'] as const;
export type ConsumerOutcome = (typeof OUTCOMES)[number];

interface ConsumerState {
  broker: Broker;
  queue: QueueDefinition;
  /** Whether messages of the queue are delivered to this process now. */
  isActive: () => boolean;
}

export interface ConsumerMetrics {
  /** @param messages how many; default 1 */
  count(outcome: ConsumerOutcome, messages?: number): void;
  /** @param occurredAt of an event that was handled for the first time */
  observeDelay(occurredAt: string): void;
}

interface RegisteredMetrics {
  consumers: Map<string, ConsumerState>;
  consumed: Counter<'queue' | 'outcome'>;
  delay: Histogram<'queue'>;
}

/** One set of metrics for each registry, whatever the number of its consumers. */
const byRegistry = new WeakMap<Metrics, RegisteredMetrics>();

/** Adds the metrics of one queue's consumer in this process. */
export function observeConsumer(metrics: Metrics, state: ConsumerState): ConsumerMetrics {
  const registered = byRegistry.get(metrics) ?? register(metrics);
  byRegistry.set(metrics, registered);
  const { name: queue } = state.queue;
  registered.consumers.set(queue, state);
  // A counter that appears with its first message hides that message from `rate` and `increase`.
  for (const outcome of OUTCOMES) registered.consumed.inc({ queue, outcome }, 0);
  const delays = registered.delay.labels({ queue });
  return {
    count: (outcome, messages = 1) => registered.consumed.inc({ queue, outcome }, messages),
    observeDelay: (occurredAt) => delays.observe(Math.max(0, Date.now() - Date.parse(occurredAt)) / 1_000),
  };
}

function register(metrics: Metrics): RegisteredMetrics {
  const registers = [metrics];
  const consumers = new Map<string, ConsumerState>();
  new Gauge({
    name: 'tocsin_consumer_active',
    help: 'Whether this process consumes a queue now: 0 without the broker, or while the database is unavailable',
    labelNames: ['queue'],
    registers,
    collect() {
      for (const [queue, { isActive }] of consumers) this.set({ queue }, isActive() ? 1 : 0);
    },
  });
  new Gauge({
    name: 'tocsin_dead_letters_waiting',
    help: 'Messages in the dead-letter queue of a queue',
    labelNames: ['queue'],
    registers,
    async collect() {
      await Promise.all(
        [...consumers].map(async ([name, { broker, queue }]) => {
          if (broker.countDeadLetters === undefined) return;
          this.set({ queue: name }, await broker.countDeadLetters(queue));
        }),
      );
    },
  });
  return {
    consumers,
    consumed: new Counter({
      name: 'tocsin_messages_consumed_total',
      help: 'Messages consumed, by queue and outcome',
      labelNames: ['queue', 'outcome'],
      registers,
    }),
    delay: new Histogram({
      name: 'tocsin_message_delay_seconds',
      help: 'Time from an event to the commit of its effect in this service, by queue and the clocks of both processes',
      labelNames: ['queue'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200],
      registers,
    }),
  };
}
