import type { Socket } from 'node:net';
import { exchangeName, hasConsumer, type QueueDefinition, queueName } from '@tocsin/contracts';
import type { Logger } from '@tocsin/runtime';
import {
  type Channel,
  type ChannelModel,
  connect,
  type ConfirmChannel,
  type ConsumeMessage,
  type Message,
} from 'amqplib';
import { declareTopology } from './amqp-topology.ts';
import {
  type Broker,
  type MessageHandler,
  type OutgoingMessage,
  PREFETCH,
  type PublishOutcome,
  type Subscription,
  verdictOf,
} from './broker.ts';

/** A memory alarm withholds confirms for as long as it lasts; after this long a publication counts as failed. */
const CONFIRM_TIMEOUT = 5_000;
/** A cluster that elects leaders lets a declaration wait for minutes; another connection finds it done much sooner. */
const SET_UP_TIMEOUT = 10_000;
/** For a broker to answer what we leave with. It gives nothing back that it has not got already. */
const FAREWELL_TIMEOUT = 3_000;
const REOPEN_DELAY = 1_000;
const RECONNECT_DELAYS = [100, 200, 500, 1_000, 2_000, 5_000];

interface Session {
  connection: ChannelModel;
  publisher: ConfirmChannel;
  /** Outcomes that the broker announces by a `return` before it confirms, by message ID. */
  returned: Set<string>;
}

interface Consumer {
  queue: QueueDefinition;
  handle: MessageHandler;
  /** Settles when the last attempt to start it has succeeded or failed. */
  starting: Promise<void>;
  channel: Channel | undefined;
  tag: string | undefined;
  inFlight: Set<Promise<void>>;
}

/** RabbitMQ 3.10 and later. Connects in the background, and again whenever the connection is lost. */
export class AmqpBroker implements Broker {
  readonly #url: string;
  readonly #namespace: string;
  readonly #log: Logger;
  readonly #consumers = new Set<Consumer>();
  #session: Session | undefined;
  #closed = false;
  #attempt = 0;
  #retry: NodeJS.Timeout | undefined;
  #restoring: NodeJS.Timeout | undefined;
  #connecting: Promise<void>;
  /** Connected, and not set up yet. */
  #opening: ChannelModel | undefined;

  constructor(options: { url: string; namespace: string; log: Logger }) {
    this.#namespace = options.namespace;
    this.#url = withHeartbeat(options.url);
    this.#log = options.log;
    this.#connecting = this.#connect();
  }

  get connected(): boolean {
    return this.#session !== undefined;
  }

  async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    const session = this.#session;
    if (session === undefined) return messages.map(() => 'failed');
    const outcomes = await Promise.all(
      messages.map((message) => publishOne(session, exchangeName(this.#namespace), message)),
    );
    if (messages.some(({ type }, index) => outcomes[index] === 'unroutable' && hasConsumer(type))) {
      this.#restoreQueues(session);
    }
    return outcomes;
  }

  subscribe(queue: QueueDefinition, handle: MessageHandler): Subscription {
    const consumer: Consumer = {
      queue,
      handle,
      starting: Promise.resolve(),
      channel: undefined,
      tag: undefined,
      inFlight: new Set(),
    };
    this.#consumers.add(consumer);
    if (this.#session !== undefined) void this.#startConsumer(this.#session, consumer);
    return {
      stop: async () => {
        this.#consumers.delete(consumer);
        // Without hanging up: others may use the connection, and who closes the broker ends it anyway.
        const leave = async (step: Promise<unknown>) =>
          inTime(undefined, step, FAREWELL_TIMEOUT).catch(() => undefined);
        await leave(consumer.starting);
        const { channel, tag } = consumer;
        if (channel !== undefined && tag !== undefined) await leave(channel.cancel(tag));
        await Promise.all(consumer.inFlight);
        if (channel !== undefined) await leave(channel.close());
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#retry);
    clearTimeout(this.#restoring);
    if (this.#session === undefined && this.#opening !== undefined) hangUp(this.#opening);
    await this.#connecting;
    const session = this.#session;
    this.#session = undefined;
    if (session === undefined) return;
    await farewell(session.connection);
  }

  /**
   * Somebody deleted a queue of ours; a later publication finds it again. Not at once: a broker that is just telling the
   * queue's consumers of its end would move them to the new one instead, in silence, and deliver to nobody.
   */
  #restoreQueues(session: Session): void {
    this.#restoring ??= setTimeout(() => {
      this.#restoring = undefined;
      if (this.#session === session) void declareTopology(session.publisher, this.#namespace).catch(() => undefined);
    }, REOPEN_DELAY);
  }

  async #connect(): Promise<void> {
    let connection: ChannelModel | undefined;
    try {
      connection = await connect(this.#url, { timeout: 5_000 });
      // First of all, and empty on purpose: a reset during set-up would otherwise be an uncaught exception. `close` follows.
      connection.on('error', () => undefined);
      const link = { lost: false };
      connection.once('close', () => {
        link.lost = true;
        this.#lose(connection);
      });
      this.#opening = connection;
      const publisher = await inTime(connection, connection.createConfirmChannel());
      publisher.on('error', (error: Error) => this.#log.warn({ err: error }, 'the publishing channel failed'));
      // Without its channel a connection is of no use: begin anew.
      publisher.once('close', () => void farewell(connection));
      const returned = new Set<string>();
      publisher.on('return', ({ properties }: Message) => returned.add(String(properties.messageId)));
      await inTime(connection, declareTopology(publisher, this.#namespace));
      if (link.lost || this.#closed) {
        await farewell(connection);
        if (!link.lost) return;
        throw new Error('the connection was lost during set-up');
      }
      const session: Session = { connection, publisher, returned };
      this.#session = session;
      this.#attempt = 0;
      this.#log.info('connected to the broker');
      // Those that come while we wait start by themselves.
      for (const consumer of [...this.#consumers]) await this.#startConsumer(session, consumer);
    } catch (error) {
      await farewell(connection);
      if (this.#session === undefined) this.#scheduleRetry(error);
    } finally {
      this.#opening = undefined;
    }
  }

  #lose(connection: ChannelModel | undefined): void {
    if (this.#session?.connection !== connection || connection === undefined) return;
    this.#session = undefined;
    for (const consumer of this.#consumers) consumer.channel = consumer.tag = undefined;
    this.#scheduleRetry(new Error('the connection to the broker was lost'));
  }

  #scheduleRetry(error: unknown): void {
    if (this.#closed) return;
    const delay = RECONNECT_DELAYS[Math.min(this.#attempt, RECONNECT_DELAYS.length - 1)];
    // Once is news; every further attempt says the same.
    this.#log[this.#attempt === 0 ? 'warn' : 'debug'](
      { err: error, delay },
      'the broker cannot be reached, trying again',
    );
    this.#attempt += 1;
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#connecting = this.#connect();
    }, delay);
  }

  async #startConsumer(session: Session, consumer: Consumer): Promise<void> {
    return (consumer.starting = this.#consume(session, consumer));
  }

  async #consume(session: Session, consumer: Consumer): Promise<void> {
    const isWanted = () => this.#session === session && this.#consumers.has(consumer);
    if (!isWanted()) return;
    let reopening = false;
    // The broker closed the channel or deleted the queue under us while the connection lives on.
    const reopen = () => {
      if (reopening || !isWanted()) return;
      reopening = true;
      consumer.channel = consumer.tag = undefined;
      setTimeout(() => void this.#startConsumer(session, consumer), REOPEN_DELAY);
    };
    try {
      const channel = await inTime(session.connection, session.connection.createChannel());
      channel.on('error', (error: Error) =>
        this.#log.warn({ err: error, queue: consumer.queue.name }, 'a consumer channel failed'),
      );
      channel.once('close', reopen);
      await inTime(session.connection, declareTopology(channel, this.#namespace));
      await channel.prefetch(PREFETCH);
      const consuming = channel.consume(queueName(this.#namespace, consumer.queue), (message) => {
        if (message === null) {
          void channel.close().catch(() => undefined);
          return;
        }
        const work = settle(channel, message, consumer.handle).finally(() => consumer.inFlight.delete(work));
        consumer.inFlight.add(work);
      });
      const { consumerTag } = await inTime(session.connection, consuming);
      consumer.channel = channel;
      consumer.tag = consumerTag;
    } catch (error) {
      if (!isWanted()) return;
      this.#log.warn({ err: error, queue: consumer.queue.name }, 'cannot consume, trying again');
      reopen();
    }
  }
}

/** Waits for a step for so long, and then ends the connection: a broker that does not answer is of no use. */
async function inTime<Result>(
  connection: ChannelModel | undefined,
  step: Promise<Result>,
  timeout = SET_UP_TIMEOUT,
): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    if (connection !== undefined) hangUp(connection);
    reject(new Error('the broker does not answer'));
  }, timeout);
  return Promise.race([step, late]).finally(() => clearTimeout(timer));
}

/** Ends a connection, whatever has become of it: one that is gone already would wait for its farewell for ever. */
async function farewell(connection: ChannelModel | undefined): Promise<void> {
  try {
    if (connection !== undefined) await inTime(connection, connection.close(), FAREWELL_TIMEOUT);
  } catch {
    // It was closed before, or is now.
  }
}

/** Without the farewell of the protocol, which a broker that hangs would not answer. */
function hangUp({ connection }: ChannelModel): void {
  // With an error, or whoever waits for an answer on the connection would not hear of its end.
  (connection as typeof connection & { stream: Socket }).stream.destroy(new Error('hung up'));
}

/** A dead peer is noticed within twenty seconds, unless the URL says otherwise. */
function withHeartbeat(url: string): string {
  const own = new URL(url);
  if (!own.searchParams.has('heartbeat')) own.searchParams.set('heartbeat', '10');
  return own.href;
}

async function publishOne(session: Session, exchange: string, message: OutgoingMessage): Promise<PublishOutcome> {
  const { promise, resolve } = Promise.withResolvers<PublishOutcome>();
  const timer = setTimeout(() => resolve('failed'), CONFIRM_TIMEOUT);
  try {
    session.publisher.publish(
      exchange,
      message.type,
      Buffer.from(message.body),
      { persistent: true, mandatory: true, messageId: message.id, type: message.type, contentType: 'application/json' },
      // An unroutable message is confirmed as well, after its return.
      (error: unknown) => resolve(session.returned.delete(message.id) ? 'unroutable' : error ? 'failed' : 'confirmed'),
    );
  } catch {
    // The channel closed between the look and the call.
    resolve('failed');
  }
  return promise.finally(() => clearTimeout(timer));
}

async function settle(channel: Channel, message: ConsumeMessage, handle: MessageHandler): Promise<void> {
  const verdict = await verdictOf(handle, { body: message.content, redelivered: message.fields.redelivered });
  try {
    if (verdict === 'ack') channel.ack(message);
    // reject and not nack: newer brokers do not count a nack against the delivery limit.
    else channel.reject(message, verdict === 'retry');
  } catch {
    // The channel is gone, and the broker delivers the message again; the inbox knows it.
  }
}
