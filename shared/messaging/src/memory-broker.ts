import { exchangeName, type QueueDefinition, QUEUES } from '@tocsin/schemas';
import { runInBackground } from '@tocsin/runtime';
import {
  type Broker,
  type DeadLetterReason,
  DELIVERY_LIMIT,
  type MessageHandler,
  type OutgoingMessage,
  type PublishOutcome,
  RETRY_DELAYS,
  retryDelay,
  type Subscription,
  dispositionOf,
} from './broker.ts';
import { processInSpan, publishInSpan } from './message-spans.ts';

interface Consumer {
  handle: MessageHandler;
  inFlight: Set<Promise<unknown>>;
}

/** The state of one message in one queue. */
interface Progress {
  failures: number;
  /** The earliest time of the next delivery, by `performance.now()`. */
  due: number;
  ended: 'handled' | DeadLetterReason | undefined;
}

const PLACE = { system: 'tocsin', exchange: exchangeName('tocsin') };

/**
 * The in-process broker of the embedded mode. It stores nothing: a message is confirmed only after a consumer of every
 * queue bound to its type has finished with it. So the publisher's outbox is the queue, and a crash loses nothing. Dead
 * letters are returned to the publisher, which stores them.
 */
export class MemoryBroker implements Broker {
  /** By queue; several consumers of one queue take turns, unless one of them gets all messages. */
  readonly #consumers = new Map<string, Consumer[]>();
  /** By message ID and queue, until every queue has finished with the message. */
  readonly #progress = new Map<string, Map<string, Progress>>();
  readonly #retryDelays: readonly number[];
  readonly connected = true;
  /** Each message is handled at once, with connections of the same pools as requests. */
  readonly batchSize = 50;
  /** The outbox is the queue, and keeps the message. */
  readonly requeueKeepsOrder = true;

  /** @param options.retryDelays see `RETRY_DELAYS` */
  constructor(options: { retryDelays?: readonly number[] } = {}) {
    this.#retryDelays = options.retryDelays ?? RETRY_DELAYS;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    return Promise.all(
      messages.map(async (message) =>
        publishInSpan({ ...PLACE, routingKey: message.type }, message, async (trace) =>
          this.#publishOne({ ...message, trace }),
        ),
      ),
    );
  }

  subscribe(queue: QueueDefinition, handle: MessageHandler): Subscription {
    const consumer: Consumer = { handle, inFlight: new Set() };
    this.#consumers.set(queue.name, [...this.#consumersOf(queue), consumer]);
    const isActive = () => this.#consumersOf(queue).includes(consumer);
    return {
      get active() {
        return isActive();
      },
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
    const destinations = Object.values(QUEUES).filter(({ bindings }: QueueDefinition) =>
      (bindings as readonly string[]).includes(message.type),
    );
    if (destinations.length === 0) return 'unroutable';
    const queues = this.#progress.get(message.id) ?? new Map<string, Progress>();
    this.#progress.set(message.id, queues);
    await Promise.all(destinations.map(async (queue) => this.#deliver(queue, message, progressOf(queues, queue))));
    const ended = [...queues].map(([queue, progress]) => [queue, progress.ended] as const);
    if (ended.some(([, end]) => end === undefined)) return 'failed';
    this.#progress.delete(message.id);
    const deadLetters = ended.flatMap(([queue, end]) =>
      end === undefined || end === 'handled' ? [] : [{ queue, reason: end }],
    );
    return deadLetters.length === 0 ? 'confirmed' : { deadLetters };
  }

  /** Delivers the message to the queue's next consumer, if it is due. */
  async #deliver(queue: QueueDefinition, message: OutgoingMessage, progress: Progress): Promise<void> {
    if (progress.ended !== undefined || progress.due > performance.now()) return;
    const consumer = this.#nextConsumer(queue);
    if (consumer === undefined) return;
    // As with other brokers, the consumer is no part of the transaction or request of the publisher.
    const { id, type, trace = null } = message;
    const body = Buffer.from(message.body);
    const place = { ...PLACE, routingKey: type, queue: queue.name };
    const work = runInBackground(async () =>
      processInSpan(place, { id, body, trace }, async (continued) =>
        dispositionOf(consumer.handle, { body, redelivered: progress.failures > 0, trace: continued }),
      ),
    );
    consumer.inFlight.add(work);
    const disposition = await work;
    consumer.inFlight.delete(work);
    if (disposition === 'ack') progress.ended = 'handled';
    else if (disposition === 'dead-letter') progress.ended = 'rejected';
    else if (disposition === 'retry') {
      progress.due = performance.now() + retryDelay(this.#retryDelays, progress.failures);
      progress.failures += 1;
      if (progress.failures >= DELIVERY_LIMIT) progress.ended = 'delivery_limit';
    }
  }

  #consumersOf(queue: QueueDefinition): Consumer[] {
    return this.#consumers.get(queue.name) ?? [];
  }

  #nextConsumer(queue: QueueDefinition): Consumer | undefined {
    const [first, ...others] = this.#consumersOf(queue);
    if (first !== undefined && queue.singleActiveConsumer !== true) this.#consumers.set(queue.name, [...others, first]);
    return first;
  }
}

function progressOf(queues: Map<string, Progress>, { name }: QueueDefinition): Progress {
  const existing = queues.get(name);
  if (existing !== undefined) return existing;
  const created: Progress = { failures: 0, due: 0, ended: undefined };
  queues.set(name, created);
  return created;
}
