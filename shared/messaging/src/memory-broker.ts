import { type QueueDefinition, QUEUES } from '@tocsin/contracts';
import {
  type Broker,
  DELIVERY_LIMIT,
  type MessageHandler,
  type OutgoingMessage,
  type PublishOutcome,
  type Subscription,
  verdictOf,
} from './broker.ts';

interface Consumer {
  handle: MessageHandler;
  inFlight: Set<Promise<unknown>>;
}

/**
 * The in-process broker of the embedded way to run. It stores nothing: a message counts as confirmed only when every queue
 * that takes it has a consumer, and each has finished with it. So the publisher's outbox is the queue, and a crash loses
 * nothing.
 */
export class MemoryBroker implements Broker {
  /** By queue; several consumers of one take turns. */
  readonly #consumers = new Map<string, Consumer[]>();
  /** Failed deliveries by queue and message, so that a poison message ends here too. */
  readonly #failures = new Map<string, number>();
  readonly connected = true;

  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    return Promise.all(messages.map((message) => this.#publishOne(message)));
  }

  subscribe(queue: QueueDefinition, handle: MessageHandler): Subscription {
    const consumer: Consumer = { handle, inFlight: new Set() };
    this.#consumers.set(queue.name, [...this.#consumersOf(queue), consumer]);
    return {
      stop: async () => {
        this.#consumers.set(
          queue.name,
          this.#consumersOf(queue).filter((other) => other !== consumer),
        );
        await Promise.all(consumer.inFlight);
      },
    };
  }

  async close(): Promise<void> {
    const consumers = [...this.#consumers.values()].flat();
    this.#consumers.clear();
    await Promise.all(consumers.flatMap(({ inFlight }) => [...inFlight]));
  }

  async #publishOne(message: OutgoingMessage): Promise<PublishOutcome> {
    const takers = Object.values(QUEUES).filter(({ bindings }: QueueDefinition) =>
      (bindings as readonly string[]).includes(message.type),
    );
    if (takers.length === 0) return 'unroutable';
    const deliveries = await Promise.all(takers.map((queue) => this.#deliver(queue, message)));
    return deliveries.every(Boolean) ? 'confirmed' : 'failed';
  }

  /** Whether the queue is done with the message, one way or another. */
  async #deliver(queue: QueueDefinition, message: OutgoingMessage): Promise<boolean> {
    const consumer = this.#nextConsumer(queue);
    if (consumer === undefined) return false;
    const key = `${queue.name} ${message.id}`;
    const failures = this.#failures.get(key) ?? 0;
    const work = verdictOf(consumer.handle, { body: Buffer.from(message.body), redelivered: failures > 0 });
    consumer.inFlight.add(work);
    const verdict = await work;
    consumer.inFlight.delete(work);
    if (verdict === 'retry' && failures + 1 < DELIVERY_LIMIT) {
      this.#failures.set(key, failures + 1);
      return false;
    }
    this.#failures.delete(key);
    return true;
  }

  #consumersOf(queue: QueueDefinition): Consumer[] {
    return this.#consumers.get(queue.name) ?? [];
  }

  #nextConsumer(queue: QueueDefinition): Consumer | undefined {
    const [first, ...others] = this.#consumersOf(queue);
    if (first !== undefined) this.#consumers.set(queue.name, [...others, first]);
    return first;
  }
}
