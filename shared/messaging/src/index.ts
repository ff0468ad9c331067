export { AmqpBroker } from './amqp-broker.ts';
export {
  type Broker,
  DELIVERY_LIMIT,
  type IncomingMessage,
  type MessageHandler,
  type OutgoingMessage,
  type PublishOutcome,
  type Subscription,
  type Verdict,
} from './broker.ts';
export { type ConsumerOptions, createInboxTable, type EventHandlers, startConsumer, sweepInbox } from './consumer.ts';
export { MemoryBroker } from './memory-broker.ts';
export {
  createOutboxTable,
  type NewEvent,
  outbox,
  type OutboxRow,
  outboxRow,
  type RelayOptions,
  startRelay,
} from './outbox.ts';
