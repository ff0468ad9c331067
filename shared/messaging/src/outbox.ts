import { randomUUID } from 'node:crypto';
import { type Envelope, type EventData, type EventType, type EventWorkspace, hasConsumer } from '@tocsin/contracts';
import {
  Counter,
  Gauge,
  type Instant,
  type Knex,
  type Logger,
  type Metrics,
  startPeriodicTask,
  type PeriodicTask,
} from '@tocsin/runtime';
import type { Broker, DeadLettered, PublishOutcome } from './broker.ts';

export interface NewEvent<Type extends EventType = EventType> {
  type: Type;
  occurredAt: Instant;
  workspace: EventWorkspace;
  requestId: string | null;
  data: EventData<Type>;
}

/** A row of the outbox. */
export interface OutboxRow {
  message_id: string;
  type: string;
  body: string;
}

/** Builds the row, for a statement that inserts it itself. Other code uses `outbox(trx).add`. */
export function outboxRow<Type extends EventType>(event: NewEvent<Type>): OutboxRow {
  const envelope: Envelope<EventData<Type>> = {
    id: randomUUID(),
    type: event.type,
    schema_version: 1,
    occurred_at: event.occurredAt,
    workspace: event.workspace,
    request_id: event.requestId,
    data: event.data,
  };
  return { message_id: envelope.id, type: envelope.type, body: JSON.stringify(envelope) };
}

/** Adds events that are published if, and only if, the transaction commits. */
export function outbox(trx: Knex.Transaction) {
  return {
    add: async <Type extends EventType>(...events: NewEvent<Type>[]): Promise<void> => {
      if (events.length > 0) await trx('outbox').insert(events.map(outboxRow));
    },
  };
}

/** Creates the outbox table; for the migrations of a service that publishes. */
export async function createOutboxTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('outbox', (table) => {
    table.bigIncrements('id');
    table.uuid('message_id').notNullable();
    table.text('type').notNullable();
    table.text('body').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
  });
}

/**
 * Creates the table for dead letters of a broker that does not store them; for the migrations of a service that
 * publishes.
 */
export async function createDeadLetterTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('dead_letters', (table) => {
    table.text('queue').notNullable();
    table.uuid('message_id').notNullable();
    table.text('type').notNullable();
    table.text('body').notNullable();
    table.text('reason').notNullable().checkIn(['rejected', 'delivery_limit']);
    table.timestamp('died_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
    table.primary(['queue', 'message_id']);
    table.index(['queue', 'died_at', 'message_id']);
  });
}

const BATCH = 50;
const POLL_INTERVAL = 250;

export interface RelayOptions {
  database: Knex;
  broker: Broker;
  log: Logger;
  metrics: Metrics;
}

/**
 * Publishes a service's outbox, oldest first. Any number of relays may run: each locks the rows that it publishes. A
 * row is deleted only after the broker has confirmed its message, or together with its insertion as a dead letter.
 * Wake the relay after a commit; it also polls periodically.
 */
export function startRelay({ database, broker, log, metrics }: RelayOptions): PeriodicTask {
  const published = new Counter({
    name: 'tocsin_outbox_published_total',
    help: 'Events published, by outcome',
    labelNames: ['outcome'],
    registers: [metrics],
  });
  new Gauge({
    name: 'tocsin_outbox_waiting',
    help: 'Events in the outbox',
    registers: [metrics],
    async collect() {
      const [row] = await database('outbox').count<{ waiting: number }[]>('id as waiting');
      this.set(row?.waiting ?? 0);
    },
  });

  const publishBatch = async (): Promise<boolean> =>
    database.transaction(async (trx) => {
      const rows = await trx<OutboxRow & { id: number }>('outbox')
        .select('id', 'message_id', 'type', 'body')
        .orderBy('id')
        .limit(BATCH)
        .forUpdate()
        .skipLocked();
      if (rows.length === 0) return false;
      const outcomes = await broker.publish(
        rows.map((row) => ({ id: row.message_id, type: row.type, body: row.body })),
      );
      const outcomeOf = (index: number): PublishOutcome => outcomes[index] ?? 'failed';
      const dead = rows.flatMap((row, index) => {
        const outcome = outcomeOf(index);
        return typeof outcome === 'string' ? [] : deadLettersOf(row, outcome);
      });
      if (dead.length > 0) await trx('dead_letters').insert(dead).onConflict().ignore();
      const sent = rows.filter(({ type }, index) => {
        const outcome = outcomeOf(index);
        published.inc({ outcome: typeof outcome === 'string' ? outcome : 'dead_lettered' });
        // Without a queue for its type an event is unroutable by design.
        return outcome !== 'failed' && (outcome !== 'unroutable' || !hasConsumer(type));
      });
      await trx('outbox')
        .whereIn(
          'id',
          sent.map(({ id }) => id),
        )
        .delete();
      // Stop if nothing was sent: rows that the broker does not accept now wait for the next run.
      return rows.length === BATCH && sent.length > 0;
    });

  const work = async () => broker.connected && publishBatch();
  const task = startPeriodicTask({ name: 'publishing the outbox', interval: POLL_INTERVAL, log, work });
  return {
    wake: task.wake,
    stop: async () => {
      await task.stop();
      // Otherwise the last events would wait until a relay of this service runs again.
      while (await work().catch((error: unknown) => log.error({ err: error }, 'cannot empty the outbox')));
    },
  };
}

const deadLettersOf = ({ message_id, type, body }: OutboxRow, { deadLetters }: DeadLettered) =>
  deadLetters.map(({ queue, reason }) => ({ queue, message_id, type, body, reason }));
