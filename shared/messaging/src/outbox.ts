import { randomUUID } from 'node:crypto';
import type { Envelope, EventData, EventType, EventWorkspace } from '@tocsin/schemas';
import { type Knex, query, type Statement } from '@tocsin/postgres';
import { type Instant, storableTrace } from '@tocsin/runtime';

export interface NewEvent<Type extends EventType = EventType> {
  type: Type;
  occurredAt: Instant;
  workspace: EventWorkspace;
  requestId: string | null;
  /** Whether it is about a restricted incident (contract: Restricted incidents). */
  restricted?: boolean;
  data: EventData<Type>;
}

/** A row of the outbox. */
export interface OutboxRow {
  message_id: string;
  /** The event's workspace: the relay takes turns by it. */
  workspace_id: number;
  type: string;
  body: string;
  /** The trace of the code that makes the event, as `storableTrace` returns it. */
  trace_context: string | null;
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
    ...(event.restricted === true && { restricted: true }),
    data: event.data,
  };
  return {
    message_id: envelope.id,
    workspace_id: envelope.workspace.id,
    type: envelope.type,
    body: JSON.stringify(envelope),
    trace_context: storableTrace(),
  };
}

/** The most rows that one statement inserts: a few megabytes if all events are as large as they can be. */
const MAX_INSERTED_ROWS = 100;

const COLUMNS = 'message_id, workspace_id, type, body, trace_context';

/** Most changes have one or two. In an array, bodies would be escaped here, and parsed by the server. */
const INSERTS_OF_FEW = Array.from({ length: 4 }, (_, index) => insertRows(index + 1));

function insertRows(count: number): string {
  const places = Array.from({ length: count }, (_, row) => [1, 2, 3, 4, 5].map((column) => `$${5 * row + column}`));
  return `insert into outbox (${COLUMNS}) values ${places.map((row) => `(${row.join(', ')})`).join(', ')}`;
}

const INSERT = `
  insert into outbox (${COLUMNS}) select ${COLUMNS}
  from unnest($1::uuid[], $2::bigint[], $3::text[], $4::text[], $5::text[]) with ordinality
    as event (${COLUMNS}, place)
  order by place`;

/** A statement that adds a few events; use it like `outbox(trx).add`. */
export function insertEvents(events: readonly NewEvent[]): Statement {
  const rows = events.map(outboxRow);
  const insertOfFew = INSERTS_OF_FEW[rows.length - 1];
  if (insertOfFew !== undefined) {
    return {
      name: `insert-few-events-${rows.length}`,
      text: insertOfFew,
      values: rows.flatMap((row) => [row.message_id, row.workspace_id, row.type, row.body, row.trace_context]),
    };
  }
  return {
    text: INSERT,
    values: [
      rows.map((row) => row.message_id),
      rows.map((row) => row.workspace_id),
      rows.map((row) => row.type),
      rows.map((row) => row.body),
      rows.map((row) => row.trace_context),
    ],
  };
}

/** As `insertEvents`, for any number of events. */
export const insertAllEvents = (events: readonly NewEvent[]): Statement[] =>
  Array.from({ length: Math.ceil(events.length / MAX_INSERTED_ROWS) }, (_, index) =>
    insertEvents(events.slice(index * MAX_INSERTED_ROWS, (index + 1) * MAX_INSERTED_ROWS)),
  );

/**
 * Adds events that are published if, and only if, the transaction commits, in the order of their IDs. Add the events of a
 * resource after locking its row, or the row of its version: then a newer event of it always has a higher ID.
 */
export function outbox(trx: Knex.Transaction) {
  return {
    add: async <Type extends EventType>(...events: NewEvent<Type>[]): Promise<void> => {
      for (const statement of insertAllEvents(events)) await query(trx, statement);
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
    table.text('trace_context').comment('traceparent, and tracestate after a space; null without a trace');
    table.bigInteger('workspace_id').notNullable().defaultTo(0);
    table.index(['workspace_id', 'id']);
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
