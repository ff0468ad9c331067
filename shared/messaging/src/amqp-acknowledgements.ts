import type { Channel, ConsumeMessage } from 'amqplib';

/** Acknowledges the messages of one channel, as many as possible with one frame. */
export class Acknowledgements {
  readonly #channel: Channel;
  /** The messages that the broker waits for, in the order of their delivery. */
  readonly #outstanding = new Set<ConsumeMessage>();
  readonly #acknowledged = new Set<ConsumeMessage>();
  #isClosed = false;

  constructor(channel: Channel) {
    this.#channel = channel;
    channel.once('close', () => {
      this.#isClosed = true;
      this.#outstanding.clear();
    });
  }

  /** Whether nothing can be acknowledged any more. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  delivered(message: ConsumeMessage): void {
    this.#outstanding.add(message);
  }

  /** Acknowledges the message, together with those that are acknowledged at the same time. */
  ack(message: ConsumeMessage): void {
    this.#acknowledged.add(message);
    if (this.#acknowledged.size === 1) queueMicrotask(() => this.#send());
  }

  /** @param options.requeue whether the broker delivers it again, or makes it a dead letter */
  reject(message: ConsumeMessage, { requeue }: { requeue: boolean }): void {
    this.#outstanding.delete(message);
    // reject, not nack: newer brokers do not count a nack against the delivery limit.
    this.#channel.reject(message, requeue);
  }

  #send(): void {
    const acknowledged = [...this.#acknowledged];
    this.#acknowledged.clear();
    const upTo = this.#lastOfRun(new Set(acknowledged));
    try {
      if (upTo !== undefined) this.#channel.ack(upTo, true);
      for (const message of acknowledged) {
        if (this.#outstanding.delete(message)) this.#channel.ack(message);
      }
    } catch {
      // The channel is closed, so the broker delivers the messages again; the inbox detects the duplicates.
    }
  }

  /** Removes the first outstanding messages, as far as they are acknowledged, and returns the last of them. */
  #lastOfRun(acknowledged: ReadonlySet<ConsumeMessage>): ConsumeMessage | undefined {
    let last: ConsumeMessage | undefined;
    for (const message of this.#outstanding) {
      if (!acknowledged.has(message)) break;
      this.#outstanding.delete(message);
      last = message;
    }
    return last;
  }
}
