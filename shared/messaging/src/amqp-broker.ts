import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import {
  deadLetterQueueName,
  exchangeName,
  hasConsumer,
  HEALTH_TYPE,
  type QueueDefinition,
  queueName,
  requeueExchangeName,
} from '@tocsin/schemas';
import {
  changeUrl,
  contextOfHeaders,
  headersOfStored,
  Hosts,
  type Logger,
  storableTrace,
  urlsOfHosts,
  withTimeout,
} from '@tocsin/runtime';
import {
  type Channel,
  type ChannelModel,
  type ConfirmChannel,
  connect,
  type ConsumeMessage,
  type Options,
} from 'amqplib';
import { Acknowledgements } from './amqp-acknowledgements.ts';
import { CONFIRM_TIMEOUT, confirmPublisher, type Publisher } from './amqp-publisher.ts';
import { ensureTopology, openQuietly } from './amqp-topology.ts';
import { connectionRefusal } from './connection-refusal.ts';
import { joinWrites } from './join-writes.ts';
import {
  type Broker,
  DELIVERY_LIMIT,
  type MessageHandler,
  type OutgoingMessage,
  PREFETCH,
  type PublishOutcome,
  RETRY_DELAYS,
  retryDelay,
  type SubscribeOptions,
  type Subscription,
  dispositionOf,
} from './broker.ts';
import { processInSpan, publishInSpan } from './message-spans.ts';
import { pause } from './pausable-subscription.ts';

/** Milliseconds for a step of the set-up. While a cluster elects leaders a declaration can hang; a retry is faster. */
const SET_UP_TIMEOUT = 10_000;
/** Milliseconds for the broker to confirm that a consumer, channel or connection is closed. */
const CLOSE_TIMEOUT = 3_000;
/** Milliseconds before a closed channel, a queue or a blocked message is tried again. */
const REOPEN_DELAY = 1_000;
/** Milliseconds for which a confirm proves that the broker stores messages. */
const CONFIRM_LASTS = 5_000;
/** A node that has confirmed nothing for so many timeouts after the first is left. An election takes less. */
const TIMEOUTS_BEFORE_LEAVING = 2;
/** Milliseconds before each attempt to reconnect, or to publish again what was not confirmed; the last value repeats. */
const RECONNECT_DELAYS = [100, 200, 500, 1_000, 2_000, 5_000];

interface Session {
  /** Its URL. */
  node: string;
  /** Separate from `publishing`: a broker short of memory or disk space stops reading from connections that publish. */
  consuming: ChannelModel;
  publishing: ChannelModel;
  channel: ConfirmChannel;
  publisher: Publisher;
  /** Whether a resource alarm blocks publishing. */
  blocked: boolean;
  /** The moment of the last confirm, and of the earliest next attempt after publishing failed; by `performance.now()`. */
  confirmedAt: number;
  publishFrom: number;
  /** Attempts to publish in a row of which nothing was confirmed, and the end of the first of them. */
  failedPublishes: number;
  failingSince: number;
  /** Asks for the lengths of queues; opened when it is needed. */
  asking: Promise<Channel> | undefined;
}

interface Consumer {
  queue: QueueDefinition;
  handle: MessageHandler;
  prefetch: number;
  /** Ends the delays of messages that wait for a retry or to be requeued. */
  stopping: AbortController;
  /** Messages that are still delivered are left to the next consumer. */
  isFinishing: boolean;
  /** Set by `stop`; settles once no further message is delivered. */
  cancelled: Promise<Channel | undefined> | undefined;
  /** Settles when the last attempt to start consuming has succeeded or failed. */
  starting: Promise<void>;
  channel: Channel | undefined;
  tag: string | undefined;
  inFlight: Set<Promise<void>>;
}

const delayAfter = (failures: number) => RECONNECT_DELAYS[Math.min(failures, RECONNECT_DELAYS.length - 1)] ?? 0;

/** A broker on RabbitMQ 3.10 or later. Connects in the background, and again whenever the connection is lost. */
export class AmqpBroker implements Broker {
  readonly #nodes: Hosts<string>;
  readonly #namespace: string;
  readonly #log: Logger;
  readonly #retryDelays: readonly number[];
  readonly #confirmTimeout: number;
  readonly #consumers = new Set<Consumer>();
  #session: Session | undefined;
  #closed = false;
  #failedAttempts = 0;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #redeclareTimer: NodeJS.Timeout | undefined;
  #connecting: Promise<void>;
  /** Open connections whose set-up has not finished. */
  #pendingConnections: ChannelModel[] = [];

  /** @param options.retryDelays see `RETRY_DELAYS`; `confirmTimeout`: see `confirmPublisher` */
  constructor(options: {
    url: string;
    namespace: string;
    log: Logger;
    retryDelays?: readonly number[];
    confirmTimeout?: number;
  }) {
    this.#namespace = options.namespace;
    this.#retryDelays = options.retryDelays ?? RETRY_DELAYS;
    this.#confirmTimeout = options.confirmTimeout ?? CONFIRM_TIMEOUT;
    this.#nodes = new Hosts(urlsOfHosts(withHeartbeat(options.url)));
    this.#log = options.log;
    this.#connecting = this.#connect();
  }

  get connected(): boolean {
    const session = this.#session;
    return session?.blocked === false && session.publishFrom <= performance.now();
  }

  /** A connection is no proof: without a majority of its nodes, a cluster accepts messages and confirms none. */
  async confirms(): Promise<boolean> {
    const session = this.#session;
    if (session === undefined || session.blocked) return false;
    if (performance.now() - session.confirmedAt < CONFIRM_LASTS) return true;
    const outcome = await session.publisher.publish({
      exchange: exchangeName(this.#namespace),
      routingKey: HEALTH_TYPE,
      messageId: HEALTH_TYPE,
      deduplicationKey: HEALTH_TYPE,
      content: Buffer.alloc(0),
    });
    if (outcome === 'unroutable') this.#redeclareQueues(session);
    this.#recordOutcomes(session, [outcome]);
    return outcome === 'confirmed';
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    const session = this.#session;
    if (session === undefined || session.blocked) return messages.map(() => 'failed');
    const outcomes = await Promise.all(messages.map(async (message) => this.#publishOne(session, message)));
    if (messages.some(({ type }, index) => outcomes[index] === 'unroutable' && hasConsumer(type))) {
      this.#redeclareQueues(session);
    }
    this.#recordOutcomes(session, outcomes);
    return outcomes;
  }

  /** After an attempt of which nothing was confirmed, nothing is published for a while: each time longer. */
  #recordOutcomes(session: Session, outcomes: readonly PublishOutcome[]): void {
    const now = performance.now();
    if (outcomes.includes('confirmed')) {
      session.confirmedAt = now;
      session.publishFrom = session.failedPublishes = 0;
    } else if (outcomes.length > 0 && outcomes.every((outcome) => outcome === 'failed')) {
      if (session.failedPublishes === 0) session.failingSince = now;
      session.publishFrom = now + delayAfter(session.failedPublishes);
      session.failedPublishes += 1;
      if (now - session.failingSince > TIMEOUTS_BEFORE_LEAVING * this.#confirmTimeout) this.#leaveNode(session);
    }
  }

  /** A node that does not reach the others stores and delivers nothing, but its connections work. */
  #leaveNode(session: Session): void {
    if (this.#session !== session || !this.#nodes.hasOthers) return;
    this.#nodes.leave(session.node);
    this.#handleConnectionLoss(session.publishing, 'the node of the broker confirms nothing');
  }

  async #publishOne(session: Session, message: OutgoingMessage): Promise<PublishOutcome> {
    const { id, type, body } = message;
    const exchange = exchangeName(this.#namespace);
    return publishInSpan({ system: SYSTEM, exchange, routingKey: type }, message, async (trace) =>
      session.publisher.publish({
        exchange,
        routingKey: type,
        messageId: id,
        deduplicationKey: id,
        content: Buffer.from(body),
        options: { type, contentType: 'application/json', headers: headersOfStored(trace) },
      }),
    );
  }

  subscribe(queue: QueueDefinition, handle: MessageHandler, options: SubscribeOptions = {}): Subscription {
    const consumer: Consumer = {
      queue,
      handle,
      prefetch: options.prefetch ?? PREFETCH,
      stopping: new AbortController(),
      isFinishing: false,
      cancelled: undefined,
      starting: Promise.resolve(),
      channel: undefined,
      tag: undefined,
      inFlight: new Set(),
    };
    this.#consumers.add(consumer);
    if (this.#session !== undefined) void this.#startConsumer(this.#session, consumer);
    // Does not destroy the connection on a timeout: other consumers may use it, and `close` ends it anyway.
    const attemptStep = async (step: Promise<unknown>) =>
      answerOf(undefined, step, CLOSE_TIMEOUT).catch(() => undefined);
    const cancel = async (waitForRequeue: boolean) => {
      this.#consumers.delete(consumer);
      await attemptStep(consumer.starting);
      const { channel, tag } = consumer;
      // The next consumer of a queue with a single active one must not begin before this one has finished. Closing the
      // channel then hands over the queue.
      const isKept = queue.singleActiveConsumer === true && !waitForRequeue;
      if (channel !== undefined && tag !== undefined && !isKept) await attemptStep(channel.cancel(tag));
      return channel;
    };
    let closing: Promise<unknown> | undefined;
    return {
      get active() {
        return consumer.tag !== undefined && consumer.cancelled === undefined;
      },
      stop: async ({ waitForRequeue = false } = {}) => {
        if (!waitForRequeue && queue.singleActiveConsumer === true) consumer.isFinishing = true;
        const channel = await (consumer.cancelled ??= cancel(waitForRequeue));
        if (!waitForRequeue) consumer.stopping.abort();
        await Promise.all(consumer.inFlight);
        if (channel !== undefined) await (closing ??= attemptStep(channel.close()));
      },
    };
  }

  async countDeadLetters(queue: QueueDefinition): Promise<number> {
    const session = this.#session;
    if (session === undefined) throw new Error('the broker is not connected');
    // A channel of its own: the broker closes the channel that asks for a queue which does not exist.
    const channel = await answerOf(undefined, openQuietly(session.consuming), CLOSE_TIMEOUT);
    try {
      const asking = channel.checkQueue(deadLetterQueueName(this.#namespace, queue));
      return (await answerOf(undefined, asking, CLOSE_TIMEOUT)).messageCount;
    } finally {
      void channel.close().catch(() => undefined);
    }
  }

  async countWaiting(queue: QueueDefinition): Promise<number | undefined> {
    const session = this.#session;
    if (session === undefined) return undefined;
    const ask = async () => {
      const channel = await (session.asking ??= openQuietly(session.consuming));
      return (await channel.checkQueue(queueName(this.#namespace, queue))).messageCount;
    };
    try {
      return await answerOf(undefined, ask(), CLOSE_TIMEOUT);
    } catch {
      // The broker closes the channel if the queue does not exist.
      const failed = session.asking;
      session.asking = undefined;
      void failed?.then(async (channel) => channel.close()).catch(() => undefined);
      return undefined;
    }
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#reconnectTimer);
    clearTimeout(this.#redeclareTimer);
    if (this.#session === undefined) this.#pendingConnections.forEach(destroy);
    await this.#connecting;
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    await closeGracefully(session.consuming, session.publishing);
  }

  /**
   * Declares the queues again after somebody deleted one. Delayed: if the queue exists again before the broker has
   * cancelled its consumers, the broker moves them to the new queue silently and delivers to nobody.
   */
  #redeclareQueues(session: Session): void {
    this.#redeclareTimer ??= setTimeout(() => {
      this.#redeclareTimer = undefined;
      if (this.#session === session) void ensureTopology(session.publishing, this.#namespace).catch(() => undefined);
    }, REOPEN_DELAY);
  }

  async #connect(): Promise<void> {
    const opened: ChannelModel[] = (this.#pendingConnections = []);
    const link = { lost: false };
    const node = this.#nodes.current;
    const open = async (): Promise<ChannelModel> => {
      // Without a delay: the system would hold a small frame back until the broker acknowledges the one before.
      const connection = await connect(node, { timeout: 5_000, noDelay: true });
      joinWrites(socketOf(connection));
      // Without a listener a reset during set-up would be an uncaught exception. `close` follows.
      connection.on('error', () => undefined);
      connection.once('close', () => {
        link.lost = true;
        this.#handleConnectionLoss(connection);
      });
      opened.push(connection);
      return connection;
    };
    try {
      const publishing = await open();
      const channel = await answerOf(publishing, publishing.createConfirmChannel());
      channel.on('error', (error: Error) => this.#log.warn({ err: error }, 'the publishing channel failed'));
      // Without its channel the connection is useless: reconnect.
      channel.once('close', () => void closeGracefully(publishing));
      await answerOf(publishing, ensureTopology(publishing, this.#namespace));
      const consuming = await open();
      if (link.lost || this.#closed) {
        await closeGracefully(...opened);
        if (!link.lost) return;
        throw new Error('the connection was lost during set-up');
      }
      const publisher = confirmPublisher(channel, this.#confirmTimeout);
      const session: Session = {
        node,
        consuming,
        publishing,
        channel,
        publisher,
        blocked: false,
        confirmedAt: -Infinity,
        publishFrom: 0,
        failedPublishes: 0,
        failingSince: 0,
        asking: undefined,
      };
      publishing.on('blocked', (reason: string) => {
        session.blocked = true;
        this.#log.warn({ reason }, 'the broker blocks publishing: it is short of memory or disk space');
      });
      publishing.on('unblocked', () => {
        session.blocked = false;
        this.#log.info('the broker accepts messages again');
      });
      this.#session = session;
      this.#failedAttempts = 0;
      this.#log.info('connected to the broker');
      // Consumers that are added meanwhile start by themselves.
      for (const consumer of [...this.#consumers]) await this.#startConsumer(session, consumer);
    } catch (error) {
      this.#nodes.leave(node);
      await closeGracefully(...opened);
      if (this.#session === undefined) this.#scheduleRetry(error);
    } finally {
      this.#pendingConnections = [];
    }
  }

  /** Closes both connections after one of them was lost, or is of no use, and reconnects. */
  #handleConnectionLoss(connection: ChannelModel, reason = 'the connection to the broker was lost'): void {
    const session = this.#session;
    if (session === undefined || (session.consuming !== connection && session.publishing !== connection)) return;
    this.#session = undefined;
    for (const consumer of this.#consumers) consumer.channel = consumer.tag = undefined;
    void closeGracefully(session.consuming, session.publishing);
    this.#scheduleRetry(new Error(reason));
  }

  #scheduleRetry(error: unknown): void {
    if (this.#closed) return;
    const delay = delayAfter(this.#failedAttempts);
    // Once per outage.
    const isFirst = this.#failedAttempts === 0;
    const refused = connectionRefusal(error);
    if (refused === undefined) {
      this.#log[isFirst ? 'warn' : 'debug']({ err: error, delay }, 'cannot reach the broker; retrying');
    } else {
      this.#log[isFirst ? 'error' : 'debug']({ refused, delay }, 'the broker refuses a part of AMQP_URL; retrying');
    }
    this.#failedAttempts += 1;
    clearTimeout(this.#reconnectTimer);
    this.#reconnectTimer = setTimeout(() => {
      this.#connecting = this.#connect();
    }, delay);
  }

  async #startConsumer(session: Session, consumer: Consumer): Promise<void> {
    return (consumer.starting = this.#consume(session, consumer));
  }

  async #consume(session: Session, consumer: Consumer): Promise<void> {
    const isCurrent = () => this.#session === session && this.#consumers.has(consumer);
    if (!isCurrent()) return;
    let reopening = false;
    // For a closed channel or a deleted queue while the connection is still open.
    const reopen = () => {
      if (reopening || !isCurrent()) return;
      reopening = true;
      consumer.channel = consumer.tag = undefined;
      setTimeout(() => void this.#startConsumer(session, consumer), REOPEN_DELAY);
    };
    try {
      await answerOf(session.consuming, ensureTopology(session.consuming, this.#namespace));
      const channel = await answerOf(session.consuming, session.consuming.createChannel());
      channel.on('error', (error: Error) =>
        this.#log.warn({ err: error, queue: consumer.queue.name }, 'a consumer channel failed'),
      );
      channel.once('close', reopen);
      await answerOf(session.consuming, channel.prefetch(consumer.prefetch));
      const acknowledgements = new Acknowledgements(channel);
      const consuming = channel.consume(queueName(this.#namespace, consumer.queue), (message) => {
        if (message === null) {
          void channel.close().catch(() => undefined);
          return;
        }
        acknowledgements.delivered(message);
        if (consumer.isFinishing) return;
        const work = this.#handleMessage(session, { consumer, acknowledgements, message }).finally(() =>
          consumer.inFlight.delete(work),
        );
        consumer.inFlight.add(work);
      });
      const { consumerTag } = await answerOf(session.consuming, consuming);
      consumer.channel = channel;
      consumer.tag = consumerTag;
    } catch (error) {
      if (!isCurrent()) return;
      this.#log.warn({ err: error, queue: consumer.queue.name }, 'cannot consume; retrying');
      reopen();
    }
  }

  async #handleMessage(
    session: Session,
    {
      consumer,
      acknowledgements,
      message,
    }: { consumer: Consumer; acknowledgements: Acknowledgements; message: ConsumeMessage },
  ): Promise<void> {
    const { content, fields } = message;
    const { exchange, routingKey, redelivered } = fields;
    const place = { system: SYSTEM, exchange, routingKey, queue: queueName(this.#namespace, consumer.queue) };
    const received = { id: idOf(message), body: content, trace: traceOf(message) };
    const disposition = await processInSpan(place, received, async (trace) =>
      dispositionOf(consumer.handle, {
        body: content,
        redelivered,
        isLost: () => acknowledgements.isClosed,
        trace,
      }),
    );
    const { signal } = consumer.stopping;
    try {
      if (disposition === 'ack') acknowledgements.ack(message);
      else if (disposition === 'dead-letter') acknowledgements.reject(message, { requeue: false });
      else if (disposition === 'leave') return;
      else if (disposition === 'requeue') {
        // Otherwise the message would be delivered to this consumer again at once.
        await consumer.cancelled;
        if (await this.#republish(session, consumer, message)) acknowledgements.ack(message);
      } else {
        const previousFailures = previousDeliveries(message);
        // No delay after the last failure: the message is dead-lettered.
        if (previousFailures + 1 < DELIVERY_LIMIT) await pause(retryDelay(this.#retryDelays, previousFailures), signal);
        // A stopping consumer leaves that to the closing channel: rejected now, the message could return to it.
        if (!signal.aborted) acknowledgements.reject(message, { requeue: true });
      }
    } catch {
      // The channel is closed, so the broker delivers the message again; the inbox detects the duplicate.
    }
  }

  /**
   * Publishes a copy of the message to the end of its queue. The caller acknowledges the original once the copy is
   * confirmed. Older brokers count every kind of requeue as a delivery; a copy starts at zero on all of them.
   * @returns false if there is no copy: the original stays unacknowledged, and closing the channel requeues it
   */
  async #republish(session: Session, consumer: Consumer, message: ConsumeMessage): Promise<boolean> {
    const { content, properties } = message;
    const copiedProperties = Object.entries(properties).filter(
      ([name, value]) => COPIED_PROPERTIES.has(name) && value !== undefined,
    );
    const headers = Object.fromEntries(
      Object.entries(properties.headers ?? {}).filter(([name]) => !COUNT_HEADERS.has(name)),
    );
    const copy = {
      // Not the default exchange: whoever may publish to that reaches every queue.
      exchange: requeueExchangeName(this.#namespace),
      routingKey: consumer.queue.name,
      messageId: idOf(message) ?? randomUUID(),
      // A new key: the copy may be delivered and requeued again before the confirm of this one arrives.
      deduplicationKey: randomUUID(),
      content,
      options: { ...Object.fromEntries(copiedProperties), headers } as Options.Publish,
    };
    const { signal } = consumer.stopping;
    for (;;) {
      if (this.#session !== session) return false;
      if (!session.blocked && (await session.publisher.publish(copy)) === 'confirmed') return true;
      if (signal.aborted) return false;
      await pause(REOPEN_DELAY, signal);
    }
  }
}

const SYSTEM = 'rabbitmq';

const idOf = ({ properties }: ConsumeMessage): string | undefined =>
  typeof properties.messageId === 'string' ? properties.messageId : undefined;

/** Other systems publish to some queues, too: what is not a valid trace is ignored. */
const traceOf = ({ properties: { headers } }: ConsumeMessage): string | null => {
  const context = contextOfHeaders(headers?.['traceparent'], headers?.['tracestate']);
  return context === undefined ? null : storableTrace(context);
};

/** The message properties that a requeued copy keeps. */
const COPIED_PROPERTIES = new Set(['contentType', 'contentEncoding', 'correlationId', 'timestamp', 'appId', 'type']);
/** The number of failed deliveries, as counted by the quorum queue. */
const DELIVERY_COUNT_HEADER = 'x-delivery-count';
const COUNT_HEADERS = new Set([DELIVERY_COUNT_HEADER, 'x-acquired-count']);

const previousDeliveries = ({ properties }: ConsumeMessage) => Number(properties.headers?.[DELIVERY_COUNT_HEADER] ?? 0);

/** Waits for a step. On a timeout, rejects and destroys the connection: the broker does not respond. */
async function answerOf<Result>(
  connection: ChannelModel | undefined,
  step: Promise<Result>,
  timeout = SET_UP_TIMEOUT,
): Promise<Result> {
  return withTimeout(step, timeout, () => {
    if (connection !== undefined) destroy(connection);
    throw new Error('the broker does not respond');
  });
}

/** Closes connections in any state. The timeout is needed because closing a lost connection would never finish. */
async function closeGracefully(...connections: ChannelModel[]): Promise<void> {
  await Promise.all(
    connections.map(async (connection) => {
      try {
        await answerOf(connection, connection.close(), CLOSE_TIMEOUT);
      } catch {
        // It was already closed, or `answerOf` has destroyed it.
      }
    }),
  );
}

const socketOf = ({ connection }: ChannelModel): Socket =>
  (connection as typeof connection & { stream: Socket }).stream;

/** Ends a connection without AMQP's closing handshake, to which a hanging broker would not respond. */
function destroy(connection: ChannelModel): void {
  // With an error, because otherwise pending calls on the connection would never settle.
  socketOf(connection).destroy(new Error('the connection was destroyed'));
}

/** Sets a heartbeat that detects a dead peer within twenty seconds, unless the URL has one. */
const withHeartbeat = (url: string): string =>
  changeUrl(url, ({ searchParams }) => {
    if (!searchParams.has('heartbeat')) searchParams.set('heartbeat', '10');
  });
