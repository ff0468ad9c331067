export { AmqpBroker } from './amqp-broker.ts';
export { type ConfirmOutcome, confirmPublisher, type AmqpMessage, type Publisher } from './amqp-publisher.ts';
export {
  type Broker,
  type DeadLettered,
  type DeadLetterReason,
  DELIVERY_LIMIT,
  type IncomingMessage,
  type MessageHandler,
  type OutgoingMessage,
  type PublishOutcome,
  type SubscribeOptions,
  type Subscription,
  type Disposition,
} from './broker.ts';
export { type ConsumerOptions, createInboxTable, type EventHandlers, startConsumer, sweepInbox } from './consumer.ts';
export { MemoryBroker } from './memory-broker.ts';
export {
  createDeadLetterTable,
  createOutboxTable,
  type NewEvent,
  outbox,
  type OutboxRow,
  outboxRow,
  type RelayOptions,
  startRelay,
} from './outbox.ts';
