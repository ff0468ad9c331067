export type { Connection } from './connection.ts';
export { consume, type EventConsumer } from './consume.ts';
export { ConsumerError, type ConsumerErrorCode, HandlerGivenUp } from './errors.ts';
export {
  type CustomField,
  type Envelope,
  type EventType,
  type Incident,
  isLargeValue,
  type LargeValue,
  type Service,
  type Team,
  type TocsinEvent,
  type User,
} from './event-types.ts';
export { EVENT_TYPES, type EventData } from './generated/event-data.ts';
export type { ConsumeOptions, ConsumerState, HandleContext, MessageOutcome } from './options.ts';
export {
  type BrokenReason,
  isEventType,
  MAX_EVENT_BYTES,
  type ParsedEvent,
  parseEvent,
  SCHEMA_VERSION,
} from './parse-event.ts';
export { type Position, positionOf } from './position.ts';
export {
  POSTGRES_TABLES,
  type PostgresClient,
  type PostgresRemember,
  rememberInPostgres,
} from './remember-in-postgres.ts';
export { type HandledEvent, type Outcome, type Remember, rememberInMemory } from './remember.ts';
export { replayDeadLetters } from './replay.ts';
export type { MatchingType, TypePattern } from './type-patterns.ts';
