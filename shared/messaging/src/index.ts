export { auditEvent, type Change, changeBy, changeByOperator, recordChange } from './audit.ts';
export { brokerTopology, declareTopology } from './amqp-topology.ts';
export { AmqpBroker } from './amqp-broker.ts';
export { connectionRefusal } from './connection-refusal.ts';
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
export type { BatchBounds } from './batch-collector.ts';
export {
  type ConsumerOptions,
  type ConsumerSpec,
  type EventHandlers,
  type HandleBatch,
  type HandledBatch,
  type ReceivedEvent,
  startConsumer,
} from './consumer.ts';
export { recordInInbox, claimStatement, createInboxTable, INBOX_DAYS, sweepInbox } from './inbox.ts';
export { MemoryBroker } from './memory-broker.ts';
export {
  createDeadLetterTable,
  createOutboxTable,
  type NewEvent,
  insertAllEvents,
  insertEvents,
  outbox,
  type OutboxRow,
  outboxRow,
} from './outbox.ts';
export { type RelayOptions, startRelay } from './relay.ts';
