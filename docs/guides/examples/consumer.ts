/**
 * Keeps a table of the incidents that are not archived, from Tocsin's events on RabbitMQ: each event has its effect
 * exactly once.
 *
 *   npm install ./tocsin-events-0.1.0.tgz pg
 *   AMQP_URL=amqp://billing:…@rabbitmq DATABASE_URL=postgres://… node consumer.ts
 *
 * Settings: AMQP_URL (a user that may use its own queues, see the guide), DATABASE_URL (of your own database), QUEUE
 * (default billing.incidents), TOCSIN_NAMESPACE (default tocsin). Needs Node 24 or later; compiled to JavaScript, Node 20.
 */
import { consume, type Incident, POSTGRES_TABLES, rememberInPostgres } from '@tocsin/events';
import pg from 'pg';

const { AMQP_URL = '', DATABASE_URL = '', QUEUE = 'billing.incidents', TOCSIN_NAMESPACE = 'tocsin' } = process.env;
/** Days in which an event that comes again is recognised. */
const REMEMBERED_DAYS = 30;

const pool = new pg.Pool({ connectionString: DATABASE_URL, connectionTimeoutMillis: 5_000 });
// A connection that is lost while nobody uses it; the pool opens another.
pool.on('error', (error) => console.error(`database: ${error.message}`));
await pool.query(POSTGRES_TABLES);
await pool.query('create table if not exists active_incidents (id bigint primary key, reference text, title text)');

const remember = rememberInPostgres({ connect: async () => pool.connect(), consumer: QUEUE });

const consumer = consume({
  connection: AMQP_URL,
  queue: QUEUE,
  namespace: TOCSIN_NAMESPACE,
  types: ['incident.*'],
  order: 'revision',
  remember,
  handle: async ({ type, data }, { transaction }) => {
    const { incident } = data;
    if ('archived_at' in incident) await store(transaction, incident);
    else await transaction.query('delete from active_incidents where id = $1', [incident.id]);
    console.log(`${type} ${incident.reference}`);
  },
  // While the database is away no event is to blame: the consumer waits.
  isOutage: (error) => error instanceof Error && /^(?:57P0|08|53)|^E[A-Z]+$/.test(codeOf(error)),
  onError: ({ code, message, cause }) => console.error(`${code}: ${message}`, cause ?? ''),
  onState: (state) => console.log(state),
});

/** In the transaction that also records that the event was handled. */
async function store(
  client: pg.PoolClient,
  { id, reference, title, archived_at: archivedAt }: Incident,
): Promise<void> {
  if (archivedAt !== null) await client.query('delete from active_incidents where id = $1', [id]);
  else {
    await client.query(
      `insert into active_incidents (id, reference, title) values ($1, $2, $3)
       on conflict (id) do update set reference = excluded.reference, title = excluded.title`,
      [id, reference, title],
    );
  }
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}

const sweep = setInterval(() => {
  remember.forget(REMEMBERED_DAYS).catch((error: unknown) => console.error('cannot forget old events', error));
}, 3_600_000);

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    clearInterval(sweep);
    void consumer.stop().then(async () => pool.end());
  });
}
