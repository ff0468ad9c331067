import { randomUUID } from 'node:crypto';
import { type Envelope, type EventData, type EventType, type EventWorkspace, hasConsumer } from '@tocsin/contracts';
import {
  Counter,
  Gauge,
  type Instant,
  type Knex,
  type Logger,
  type Metrics,
  startSweep,
  type Sweep,
} from '@tocsin/runtime';
import type { Broker } from './broker.ts';

export interface NewEvent<Type extends EventType = EventType> {
  type: Type;
  occurredAt: Instant;
  workspace: EventWorkspace;
  requestId: string | null;
  data: EventData<Type>;
}

/** An event as its row in the outbox. */
export interface OutboxRow {
  message_id: string;
  type: string;
  body: string;
}

/** For a statement that writes the row itself; everything else uses `outbox(trx).add`. */
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

/** Events that are published if, and only if, the transaction commits. */
export function outbox(trx: Knex.Transaction) {
  return {
    add: async <Type extends EventType>(...events: NewEvent<Type>[]): Promise<void> => {
      if (events.length > 0) await trx('outbox').insert(events.map(outboxRow));
    },
  };
}

/** The table of a service that publishes; for its migrations. */
export async function createOutboxTable(knex: Knex): Promise<void> {
  await knex.schema.createTable('outbox', (table) => {
    table.bigIncrements('id');
    table.uuid('message_id').notNullable();
    table.text('type').notNullable();
    table.text('body').notNullable();
    table.timestamp('created_at', { precision: 3 }).notNullable().defaultTo(knex.fn.now());
  });
}

const BATCH = 50;
const SWEEP_INTERVAL = 250;

export interface RelayOptions {
  database: Knex;
  broker: Broker;
  log: Logger;
  metrics: Metrics;
}

/**
 * Publishes a service's outbox, oldest first. Any number of relays may run: each claims rows that no other holds, and a
 * row goes only when the broker has confirmed its message. Wake it after a commit; it sweeps by itself besides.
 */
export function startRelay({ database, broker, log, metrics }: RelayOptions): Sweep {
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
      const sent = rows.filter(({ type }, index) => {
        const outcome = outcomes[index] ?? 'failed';
        published.inc({ outcome });
        // Nobody needs to listen to an event that no queue of ours takes.
        return outcome === 'confirmed' || (outcome === 'unroutable' && !hasConsumer(type));
      });
      await trx('outbox')
        .whereIn(
          'id',
          sent.map(({ id }) => id),
        )
        .delete();
      // Not for as long as there are rows: those that the broker does not take now wait for the next sweep.
      return rows.length === BATCH && sent.length > 0;
    });

  const work = async () => broker.connected && publishBatch();
  const sweep = startSweep({ name: 'publishing the outbox', interval: SWEEP_INTERVAL, log, work });
  return {
    wake: sweep.wake,
    stop: async () => {
      await sweep.stop();
      // What the last requests left would otherwise be news only when some relay of this service runs again.
      while (await work().catch((error: unknown) => log.error({ err: error }, 'the outbox could not be emptied')));
    },
  };
}
