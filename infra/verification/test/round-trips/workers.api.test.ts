import { beforeAll, expect, test } from '@jest/globals';
import { type Envelope, type QueueDefinition, QUEUES } from '@tocsin/schemas';
import { IDEMPOTENCY_HOURS, sweepIdempotencyKeys } from '@tocsin/http';
import { type Broker, INBOX_DAYS, type OutgoingMessage, startRelay, sweepInbox } from '@tocsin/messaging';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { createLogger, createMetrics, systemClock } from '@tocsin/runtime';
import { eventually } from '@tocsin/testing';
import { losing, lossOf, type LostTrip } from '@tocsin/testing/faulty-trips';
import pg from 'pg';
import type { ApiDescription } from '../../../../gateway/src/description.ts';
import { auditStore } from '../../../../gateway/src/audit/store/audit-store.ts';
import { sweepAlerts } from '../../../../services/incident/src/alerts/store/alert-store.ts';
import { sweepPictures } from '../../../../services/incident/src/pictures/store/picture-store.ts';
import { deleteEntries } from '../../../../services/incident/src/retention/store/retention-store.ts';
import { deliveryLimits } from '../../../../services/webhook/src/administration.ts';
import { deleteExpiredData } from '../../../../services/webhook/src/deliveries/housekeeping.ts';
import { deleteRecordedBefore } from '../../../../services/webhook/src/feed/store/feed-trimmer.ts';
import { databaseTime } from '../../../../services/webhook/src/shared/store/time.ts';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { EXAMPLES } from '../../../generate/event-examples.ts';
import { SAMPLE_WEBHOOK } from '../../../demo/sample-webhook.ts';
import { causeEveryEvent } from '../../systems/every-event.ts';
import { examplesOf, sendExample } from '../../systems/examples.ts';
import { running } from '../../systems/running.ts';
import { losableSystem } from './losable-system.ts';
import type { State } from './stored-state.ts';

const system = losableSystem();

/** The databases of apps as those use them, and one that only the test uses. */
const databases = running(async () => {
  const pools = APP_NAMES.map((app) => {
    const { name: schema } = APPS[app].schema;
    const pool = { url: system.databaseUrl, application: `tocsin-${app}`, poolSize: 2, shared: true };
    return [schema, openDatabase({ ...pool, schema })] as const;
  });
  const bySchema = new Map<string, Knex>(pools);
  const own = new pg.Client({ connectionString: system.databaseUrl });
  await own.connect();
  return {
    of: (schema: string): Knex => bySchema.get(schema) as Knex,
    rows: async <Row extends object>(text: string): Promise<Row[]> => (await own.query<Row>(text)).rows,
    stop: async () => {
      await own.end();
      for (const [, pool] of pools) await pool.destroy();
    },
  };
});
/** Does the same work on the same state, each time with another of its trips lost. Returns how many were lost. */
async function losingEach(
  work: () => Promise<unknown>,
  check: (lost: { loss: string; trip: number } & LostTrip) => Promise<void>,
): Promise<number> {
  let runs = 0;
  for (const loss of ['before', 'after'] as const) {
    for (let trip = 1; ; trip += 1) {
      await system.state.restore();
      const { lost } = await losing({ loss, trip, of: 'work' }, work);
      if (lost === undefined) break;
      await check({ loss, trip, ...lost });
      runs += 1;
    }
  }
  await eventually(async () => (await system.state.openTransactions()) === 0, { what: 'the end of all transactions' });
  await system.state.restore();
  return runs;
}

/** Writes after which the replicas are behind, and those of the gateway. */
const MORE = ['createTeam', 'createService', 'createCustomField', 'createUser', 'createApiKey', 'createPicture'];

/** Events of all types, of which nothing is published. */
let messages: OutgoingMessage[];
beforeAll(async () => {
  const { client, publishing, state } = system;
  await publishing(async () => undefined);
  // Deliveries are queued, and none is sent: all slots are taken.
  await databases.rows('update webhook.subscriptions set verified = true');
  expect((await client.post(`/api/v1/settings/webhooks/${SAMPLE_WEBHOOK}/resume`)).status).toBe(200);
  await databases.rows(
    `insert into webhook.slots (token, kind, workspace_id, host, share, minute, window_share, lease_until)
     select gen_random_uuid(), 'delivery', 1000 + share, 'other.example', share, now(), 0, now() + interval '1 day'
     from generate_series(0, 15) as share`,
  );
  await causeEveryEvent(client);
  const description = (await client.get('/api/v1/openapi.json')).body as ApiDescription;
  for (const example of examplesOf(description)) {
    if (!MORE.includes(example.id)) continue;
    await sendExample(client, { ...example, headers: { ...example.headers, 'Idempotency-Key': example.id } });
  }
  const outboxes = APP_NAMES.map(
    (app) => `(select message_id as id, type, body from ${APPS[app].schema.name}.outbox order by outbox.id)`,
  );
  messages = await databases.rows<OutgoingMessage>(outboxes.join(' union all '));
  for (const type of ['customer-impact.updated', 'investigation.run.updated'] as const) {
    const { data, ...event } = EXAMPLES[type] as Envelope<object>;
    const body = { ...event, data: { ...data, workspace_id: event.workspace.id, incident_id: 1 } };
    messages.push({ id: event.id, type, body: JSON.stringify(body) });
  }
  messages.push({ id: EXAMPLES['user.erased'].id, type: 'user.erased', body: JSON.stringify(EXAMPLES['user.erased']) });
  await state.save();
});

/** Without the IDs that a transaction takes from a sequence even if it is rolled back. */
const withoutIds = (state: State): State =>
  Object.fromEntries(
    Object.entries(state).map(([name, rows]) => [
      name,
      rows
        .replaceAll(/"id":\d+,/g, '')
        .split('\n')
        .sort()
        .join('\n'),
    ]),
  );

/** Where the consumers write to. */
const EFFECTS = [
  ...['catalog.inbox', 'catalog.replica_users', 'gateway.audit_log', 'gateway.inbox', 'incident.inbox'],
  ...['incident.incident_mrr', 'incident.incidents', 'incident.investigation_runs', 'incident.mrr_currencies'],
  ...['incident.replica_services', 'incident.replica_teams', 'incident.replica_users'],
  ...[
    'webhook.deleted_incidents',
    'webhook.deliveries',
    'webhook.erased_users',
    'webhook.events',
    'webhook.feed_events',
    'webhook.feed_workspaces',
  ],
  'webhook.inbox',
];

test('an event has its effects once, whichever round trip of its consumers is lost', async () => {
  const { broker, state } = system;
  const deliver = async (some: readonly OutgoingMessage[]) => {
    let left = some;
    await eventually(async () => {
      const outcomes = await broker.deliver(left);
      left = left.filter((_, index) => outcomes[index] === 'failed');
      return left.length === 0;
    });
  };
  const stored = async () => withoutIds(await state.read());
  const before = await stored();
  const changed = new Set<string>();
  const latest = new Map(messages.map((message) => [message.type, message]));
  const byQueues = Map.groupBy(latest.values(), ({ type }) =>
    Object.values<QueueDefinition>(QUEUES)
      .filter(({ bindings }) => (bindings as readonly string[]).includes(type))
      .map(({ name }) => name)
      .join(),
  );
  for (const [queues, some] of byQueues) {
    await deliver(some);
    const after = await stored();
    for (const name of Object.keys(after)) if (after[name] !== before[name]) changed.add(name);
    await losingEach(
      async () => deliver(some),
      async (lost) => {
        expect({ ...lost, queues, state: await stored() }).toEqual({ ...lost, queues, state: after });
        // The broker delivers again what was handled.
        await deliver(some);
        expect({ ...lost, queues, state: await stored() }).toEqual({ ...lost, queues, state: after });
      },
    );
  }
  expect([...changed].sort()).toEqual(EFFECTS);
});

test('a relay publishes all events in their order, and leaves none, whichever round trip is lost', async () => {
  const events = await databases.rows<{ id: string }>(
    'select message_id as id from incident.outbox order by outbox.id',
  );
  const ids = events.map(({ id }) => id);
  const [dead] = ids.slice(-1);
  let published: string[];
  const broker: Broker = {
    connected: true,
    publish: async (batch) => {
      const loss = lossOf({ what: 'the publication', mayChange: true });
      if (loss !== 'before') published.push(...batch.map(({ id }) => id));
      if (loss !== undefined) return batch.map(() => 'failed');
      return batch.map(({ id }) =>
        id === dead ? { deadLetters: [{ queue: 'webhook.feed', reason: 'rejected' }] } : 'confirmed',
      );
    },
    subscribe: () => ({ active: true, stop: async () => undefined }),
    close: async () => undefined,
  };
  const log = createLogger({ app: 'incident', level: 'silent' });
  const left = async () => databases.rows('select id from incident.outbox');
  const relayAll = async () => {
    published = [];
    const relay = startRelay({ database: databases.of('incident'), broker, log, metrics: createMetrics('incident') });
    await eventually(async () => {
      relay.wake();
      return (await left()).length === 0;
    });
    await relay.stop();
  };
  const runs = await losingEach(relayAll, async (lost) => {
    const letters = await databases.rows<{ id: string }>('select message_id as id from incident.dead_letters');
    expect({ ...lost, ids: [...new Set(published)], letters }).toEqual({
      ...lost,
      ids,
      letters: [{ id: dead }],
    });
  });
  // Both to begin, to publish, to store the dead letter, and to delete and commit.
  expect(runs).toBeGreaterThanOrEqual(8);
});

/** What deletes the expired rows of a table, the column of their age, and the order in which rows became older. */
const SWEEPS: readonly [table: string, column: string, sweep: (database: Knex) => Promise<unknown>, order?: string][] =
  [
    ...['gateway', 'catalog', 'incident'].flatMap((schema): typeof SWEEPS => [
      [
        `${schema}.idempotency_keys`,
        'claimed_at',
        async (database) => sweepIdempotencyKeys(database, IDEMPOTENCY_HOURS),
      ],
      [`${schema}.inbox`, 'received_at', async (database) => sweepInbox(database, INBOX_DAYS)],
    ]),
    ['incident.alert_groups', 'updated_at', sweepAlerts],
    ['incident.pictures', 'unused_since', async (database) => sweepPictures(database, systemClock.now())],
    ...(['access_log', 'alert_records'] as const).map((log, index): (typeof SWEEPS)[number] => [
      `incident.${['incident_accesses', 'alert_notifications'][index]}`,
      ['hour', 'received_at'][index] ?? '',
      async (database) => deleteEntries(database, log, { workspaceId: 1, before: yearAgo() }),
    ]),
    ['gateway.audit_log', 'occurred_at', async (database) => auditStore(database).deleteBefore(1, yearAgo())],
    [
      'webhook.feed_events',
      'recorded_at',
      async (database) => deleteRecordedBefore(database, yearAgo()),
      // What comes before an expired event has expired.
      'position',
    ],
    [
      'webhook.events',
      'queued_at',
      async (database) => deleteExpiredData({ database, time: databaseTime, deliveryLimits: deliveryLimits({}) }),
    ],
  ];
const YEAR = 365 * 24 * 3_600_000;
const yearAgo = () => new Date(Date.now() - YEAR).toISOString();

test.each(SWEEPS)(
  '%s loses its expired rows only, whichever round trip of the sweep is lost',
  async (table, column, sweep, order = column) => {
    const database = databases.of(table.split('.')[0] ?? '');
    const IS_OLD = `${column} < now() - interval '1 year'`;
    const count = async () => {
      const [row] = await databases.rows<{ old: number; fresh: number }>(
        `select count(*) filter (where ${IS_OLD})::int as old, count(*) filter (where not ${IS_OLD})::int as fresh from ${table}`,
      );
      return row;
    };
    await databases.rows(`update ${table} set ${column} = ${column} - interval '10 years'
    where ctid in (select ctid from ${table} order by ${order}, ctid limit (select ceil(count(*) / 2.0) from ${table}))`);
    await system.state.save();
    const before = await count();
    expect(before).toEqual({ old: expect.any(Number), fresh: expect.any(Number) });
    await losingEach(
      async () => sweep(database).catch(() => undefined),
      async (lost) => {
        expect({ ...lost, ...(await count()) }).toMatchObject({ ...lost, fresh: before?.fresh });
        await sweep(database);
        expect({ ...lost, ...(await count()) }).toEqual({ ...lost, ...before, old: 0 });
      },
    );
  },
);
