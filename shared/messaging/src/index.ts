export { auditEvent, type Change, changeBy, changeByOperator, recordChange } from './audit.ts';
export {
  type Broker,
  DELIVERY_LIMIT,
  type IncomingMessage,
  type OutgoingMessage,
  type PublishOutcome,
  type Subscription,
  type Disposition,
} from './broker.ts';
export type { BatchBounds } from './batch-collector.ts';
export {
  type ConsumerSpec,
  type EventHandlers,
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
export { startRelay } from './relay.ts';
