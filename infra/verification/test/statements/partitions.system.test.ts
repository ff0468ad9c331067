import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { type Client, eventually, type Receiver, startReceiver, type TestDatabase } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import pg from 'pg';
import { APP_NAMES, APPS } from '../../../installation/apps.ts';
import { scannedTables } from '../../statements/plans.ts';
import { recordStatements, type Statement } from '../../statements/record-statements.ts';
import { adminCommand } from '../../systems/admin-command.ts';
import { startSystem, type System } from '../../systems/system.ts';

const TABLES = APP_NAMES.flatMap((app) => {
  const { name: schema, largest = [] } = APPS[app].schema;
  return largest.map((table) => ({ schema, table }));
});
const PARTITION = /^(\w+)_p\d+$/;

/** As an operator before the first start. */
const partition = async (database: TestDatabase) => {
  const urls = APP_NAMES.map((app) => [APPS[app].databaseVariable, database.url(APPS[app].schema.name)]);
  const { partitioned } = await adminCommand(Object.fromEntries(urls))('database', 'partition');
  const isAlready = (process.env['TOCSIN_TEST_PARTITIONS'] ?? '') !== '';
  expect(partitioned).toEqual(isAlready ? [] : TABLES.map((each) => ({ ...each, partitions: 16 })));
  return {};
};

const at = (revision: number) => ({ 'If-Service-Resource-Version': String(revision) });

const expectSuccess = async (answer: ReturnType<Client['get']>) => {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${text}`);
  return body;
};

/** Has the events of a workspace delivered, and reads them. @param work what causes them */
async function receive(client: Client, receiver: Receiver, work: () => Promise<void>): Promise<void> {
  const { webhook } = await expectSuccess(
    client.post('/api/v1/settings/webhooks', { url: receiver.url(), event_types: ['incident.created'] }),
  );
  await expectSuccess(client.post(`/api/v1/settings/webhooks/${webhook.id}/verify`));
  await work();
  const isDelivered = () => receiver.requests.some(({ body }) => body.includes('incident.created'));
  await eventually(isDelivered, { what: 'a delivery' });
  for (const search of ['from=beginning&limit=1', 'from=beginning&types=incident.created'])
    await expectSuccess(client.get(`/api/v1/events?${search}`));
}

/** Writes and reads incidents with all that they have, in one workspace. */
async function use(client: Client): Promise<void> {
  const { field } = await expectSuccess(
    client.post('/api/v1/custom-fields', { name: 'cause', slug: 'cause', field_type: 'string' }),
  );
  const values = [{ field_id: field.id, value: 'a bug' }];
  const { incident } = await expectSuccess(
    client.post('/api/v1/incidents', { title: 'Down', service: 'checkout', custom_field_values: values }),
  );
  const other = (await expectSuccess(client.post('/api/v1/incidents', { title: 'Slow' }))).incident;
  const path = `/api/v1/incidents/${incident.id}`;
  await expectSuccess(client.get(path));
  await expectSuccess(client.patch(path, { title: 'Really down', severity: 'sev1' }, at(1)));
  const { event } = await expectSuccess(client.post(`${path}/timeline`, { title: 'Rollback', body: 'x', tags: ['t'] }));
  await expectSuccess(client.patch(`/api/v1/timeline/${event.id}`, { title: 'Rolled back' }, at(1)));
  await expectSuccess(client.delete(`/api/v1/timeline/${event.id}`));
  await expectSuccess(client.post(`/api/v1/timeline/${event.id}/restore`));
  await expectSuccess(client.patch(`${path}/custom-fields`, { values: [{ slug: 'cause', value: 'a deploy' }] }));
  await expectSuccess(client.post(`${path}/relations`, { type: 'duplicate_of', incident_id: other.id }));
  await expectSuccess(client.post(`${path}/follow-ups`, { title: 'Alert on it' }));
  await expectSuccess(client.post(`${path}/resolve`, { resolution_note: 'Works again' }));
  const items = [{ id: other.id, verb: 'close' }];
  await expectSuccess(client.post('/api/v1/incidents/bulk', { items }, { 'Idempotency-Key': 'bulk' }));
  await importTwice(client);
  const custom = new URLSearchParams({
    custom_filter: JSON.stringify({ slug: 'cause', operator: 'contains', value: 'deploy' }),
  });
  for (const read of [
    ...[path, `${path}?at_revision=1`, `${path}/changelog`, `${path}/timeline`, `${path}/timeline?q=back`],
    ...[`${path}/postmortem`, `${path}/custom-fields`, `${path}/relations`, `/api/v1/timeline/${event.id}`],
    ...[`${path}/similar`, '/api/v1/incidents/similar?title=Checkout%20is%20down&service=checkout'],
    ...['/api/v1/exports/incidents', '/api/v1/follow-ups'],
    ...[
      'status=open&severity=sev2',
      'q=down',
      'sort=custom&sort_custom_field=cause',
      'sort=severity',
      custom.toString(),
    ].map((search) => `/api/v1/incidents?include_counts=true&${search}`),
    '/api/v1/incidents/statistics?bucket=month&created_from=2026-01-01T00:00:00Z&created_to=2027-01-01T00:00:00Z',
  ])
    await expectSuccess(client.get(read));
}

/** Creates an incident by an import, and changes it by another. */
async function importTwice(client: Client): Promise<void> {
  const author = { name: 'Ana', email: 'ana@acme.example' };
  const moments = { created_at: '2024-03-02T18:04:00Z', author };
  const event = { external_id: '1', type: 'note', started_at: '2024-03-02T18:20:00Z', author };
  for (const title of ['x', 'y']) {
    const item = {
      external: { source: 'dispatch', id: '214' },
      ...{ title, status: 'open', severity: 'sev1', ...moments, values: { cause: title } },
      ...{ timeline: [{ ...event, body: title }] },
      changelog: [{ changed_at: event.started_at, actor: author, changes: [{ field: 'title', from: 'w', to: 'x' }] }],
    };
    const { status, text } = await client.post('/api/v1/imports/incidents', { incidents: [item] });
    if (status !== 200) throw new Error(text);
  }
}

/** A list has no name if earlier tests of this process had as many texts of lists as are prepared. */
const nameOf = ({ name, text }: Statement): string | undefined =>
  name ??
  (/"largeWeight".* from incidents as i\s+where/s.test(text) && !text.includes(') as page') ? 'list' : undefined);

describeWithServers('a system whose largest tables are partitioned', () => {
  let system: System;
  let receiver: Receiver;
  let administrator: pg.Client;
  let statements: Statement[];
  const databases = new Map<string, Knex>();

  beforeAll(async () => {
    receiver = await startReceiver();
    // Periodic tasks look for what has expired in all workspaces.
    system = await startSystem({ prepare: partition, receivers: [receiver], firstRunWithin: 1_000_000_000 });
    administrator = new pg.Client({ connectionString: system.database.adminUrl });
    await administrator.connect();
    for (const schema of new Set(TABLES.map((each) => each.schema))) {
      const url = system.database.url(schema);
      databases.set(`tocsin_${schema}`, openDatabase({ url, schema, application: 'test', poolSize: 1 }));
    }
    const client = await system.as({ role: 'owner' });
    await administrator.query('select pg_stat_reset()');
    statements = await recordStatements(async () => receive(client, receiver, async () => use(client)));
  });

  afterAll(async () => {
    await receiver.stop();
    await Promise.all([...databases.values()].map(async (database) => database.destroy()));
    await administrator.end();
    await system.stop();
  });

  test('reads one partition of a table in each statement of a workspace', async () => {
    const scanned = new Set<string>();
    const violations = new Set<string>();
    for (const statement of statements) {
      const database = databases.get(statement.role ?? '');
      if (database === undefined || !/^\s*(select|insert|update|delete|with)\b/i.test(statement.text)) continue;
      const partitions = Map.groupBy(await scannedTables(database, statement), (name) => PARTITION.exec(name)?.[1]);
      for (const [table, names] of partitions) {
        if (table === undefined) continue;
        // Statements of lists are numbered in the order in which the process made them.
        scanned.add(`${table} by ${nameOf(statement)?.replace(/-\d+$/, '')}`);
        if (names.length > 1) violations.add(`${names.join()}: ${statement.text.replaceAll(/\s+/g, ' ').trim()}`);
      }
    }
    expect([...violations]).toEqual([]);
    const reads = [
      'incidents by get-incident',
      'incidents by list',
      'timeline_events by timeline',
      'feed_events by read-feed',
    ];
    expect([...scanned]).toEqual(expect.arrayContaining([...reads, 'incidents by get-incident-for-update']));
    expect(scanned.size).toBeGreaterThan(30);
  });

  test('never reads or writes partitions of other workspaces', async () => {
    // Sessions report what they have scanned when they end, at the latest.
    for (const app of APP_NAMES) await system.stopApp(app);
    const { rows } = await administrator.query<{ table: string; partitions: string[] }>(
      `select inhparent::regclass::text as "table",
         array_agg(relname::text order by relname) filter (where seq_scan + idx_scan + n_tup_ins > 0) as partitions
       from pg_stat_user_tables join pg_inherits on inhrelid = relid group by 1 order by 1`,
    );
    expect(rows.map(({ table }) => table)).toEqual(TABLES.map(({ schema, table }) => `${schema}.${table}`).sort());
    expect(rows.filter(({ partitions }) => partitions?.length !== 1)).toEqual([]);
  });
});
