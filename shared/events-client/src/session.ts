import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import { within } from './backoff.ts';
import { closeConnection, destroy } from './connection.ts';
import { declareTopology, type Topology } from './topology.ts';

/** Milliseconds for a step of the set-up. While a cluster elects leaders a declaration can hang; a retry is faster. */
const STEP_TIMEOUT = 10_000;
/** Milliseconds for the broker to confirm that a consumer or channel is closed. */
const CLOSE_TIMEOUT = 3_000;

export interface SessionOptions {
  open: () => Promise<ChannelModel>;
  topology: Topology;
  prefetch: number;
  /** Ends the set-up. */
  signal: AbortSignal;
  onMessage: (session: Session, message: ConsumeMessage) => void;
}

/** One connection with one channel that consumes the queue. It is never repaired: after any failure a new one follows. */
export class Session {
  /** Resolves when messages can no longer arrive, with the reason. */
  readonly ended: Promise<Error>;
  readonly #connection: ChannelModel;
  #channel: Channel | undefined;
  #tag: string | undefined;
  #isOpen = true;
  #resolveEnded: (reason: Error) => void = () => undefined;
  #closing: Promise<void> | undefined;
  /** The messages that wait for their next delivery. */
  readonly #retries = new Map<ConsumeMessage, NodeJS.Timeout>();

  private constructor(connection: ChannelModel) {
    this.#connection = connection;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    // `close` follows an error of the connection; without a listener the error would be an uncaught exception.
    connection.on('error', (error: Error) => this.#end(error));
    connection.once('close', () => this.#end(new Error('the connection to the broker was lost')));
  }

  /** Connects, declares the queues and starts to consume. @throws Error if a step fails or the signal is aborted */
  static async open(options: SessionOptions): Promise<Session> {
    const opening = options.open();
    const connection = await unlessAborted(opening, options.signal).catch((error: unknown) => {
      opening.then(destroy, () => undefined);
      throw error;
    });
    const session = new Session(connection);
    try {
      await session.#consume(options);
      return session;
    } catch (error) {
      await session.close();
      throw error;
    }
  }

  /** Whether messages can still be acknowledged. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  async #consume({ topology, prefetch, signal, onMessage }: SessionOptions): Promise<void> {
    const step = async <Result>(promise: Promise<Result>): Promise<Result> =>
      unlessAborted(
        within(promise, STEP_TIMEOUT, () => {
          destroy(this.#connection);
          throw new Error('the broker does not respond');
        }),
        signal,
      );
    const channel = await step(this.#connection.createChannel());
    this.#channel = channel;
    channel.on('error', (error: Error) => this.#end(error));
    channel.once('close', () => this.#end(new Error('the channel was closed')));
    await step(declareTopology(channel, topology));
    await step(channel.prefetch(prefetch));
    const consuming = channel.consume(topology.queue, (message) => {
      if (message === null) this.#end(new Error('the queue was deleted'));
      else if (this.#isOpen) onMessage(this, message);
    });
    this.#tag = (await step(consuming)).consumerTag;
  }

  ack(message: ConsumeMessage): void {
    this.#attempt((channel) => channel.ack(message));
  }

  /** Moves the message to the dead-letter queue. */
  deadLetter(message: ConsumeMessage): void {
    this.#attempt((channel) => channel.reject(message, false));
  }

  /** Has the message delivered again after a delay. At the delivery limit the broker moves it to the dead letters. */
  retry(message: ConsumeMessage, delay: number): void {
    if (!this.#isOpen) return;
    this.#retries.set(
      message,
      setTimeout(() => this.#requeue(message), delay),
    );
  }

  /** Stops the deliveries, and returns the messages that wait for a retry to the queue. */
  async cancel(): Promise<void> {
    const [channel, tag] = [this.#channel, this.#tag];
    if (!this.#isOpen || channel === undefined || tag === undefined) return;
    await within<unknown>(channel.cancel(tag), CLOSE_TIMEOUT, () => undefined).catch(() => undefined);
    for (const message of [...this.#retries.keys()]) this.#requeue(message);
  }

  /** Closes the connection. The broker delivers what is not acknowledged again. */
  async close(): Promise<void> {
    await (this.#closing ??= this.#close());
  }

  async #close(): Promise<void> {
    const channel = this.#isOpen ? this.#channel : undefined;
    this.#end(new Error('the session was closed'));
    // First, because acknowledgements that were sent just before would be lost with the connection.
    if (channel !== undefined) await within(channel.close(), CLOSE_TIMEOUT, () => undefined).catch(() => undefined);
    await closeConnection(this.#connection);
  }

  #requeue(message: ConsumeMessage): void {
    clearTimeout(this.#retries.get(message));
    this.#retries.delete(message);
    // reject, not nack: newer brokers do not count a nack against the delivery limit.
    this.#attempt((channel) => channel.reject(message, true));
  }

  #attempt(action: (channel: Channel) => void): void {
    if (!this.#isOpen || this.#channel === undefined) return;
    try {
      action(this.#channel);
    } catch {
      // The channel has closed meanwhile; its event follows.
    }
  }

  #end(reason: Error): void {
    this.#isOpen = false;
    for (const timer of this.#retries.values()) clearTimeout(timer);
    this.#retries.clear();
    this.#resolveEnded(reason);
  }
}

/** @throws Error as soon as the signal is aborted */
async function unlessAborted<Result>(promise: Promise<Result>, signal: AbortSignal): Promise<Result> {
  let stop: () => void = () => undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(new Error('the consumer was stopped'));
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop);
  });
  return Promise.race([promise, aborted]).finally(() => signal.removeEventListener('abort', stop));
}
