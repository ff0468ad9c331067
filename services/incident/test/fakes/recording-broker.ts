import type { Envelope } from '@tocsin/schemas';
import { MemoryBroker, type OutgoingMessage, type PublishOutcome } from '@tocsin/messaging';

/** The in-process broker, which records all published messages, also for apps that are not running. */
export class RecordingBroker extends MemoryBroker {
  // Tests read the data of events of every type.
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  readonly published: Envelope<any>[] = [];

  override async publish(messages: readonly OutgoingMessage[]): Promise<PublishOutcome[]> {
    this.published.push(...messages.map(({ body }) => JSON.parse(body)));
    await super.publish(messages);
    return messages.map(() => 'confirmed');
  }
}
