import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import { QUEUES } from '@tocsin/schemas';
import { type Knex, openDatabase } from '@tocsin/postgres';
import { generateSecretKeys } from '@tocsin/runtime';
import { eventually, TEST_SECRET_KEYS, testServers } from '@tocsin/testing';
import { describeWithServers } from '@tocsin/testing/suites';
import { connect } from 'amqplib';
import { APP_NAMES, type AppName, APPS } from '../../installation/apps.ts';
import { REPLICAS } from '../doctor/replicas.ts';
import { runAdmin } from '../run-admin.ts';
import { sharedRoles } from '../../verification/systems/database-urls.ts';
import { running, runningSystem, temporaryFolder } from '../../verification/systems/running.ts';

interface Line {
  status: string;
  check: string;
  message: string;
}

describeWithServers('doctor', () => {
  const system = runningSystem(() => ({ firstRunWithin: 100 }));
  const client = running(async () => system.as());
  const folder = temporaryFolder();
  let env: Record<string, string | undefined>;
  const databases = new Map<AppName, Knex>();
  beforeAll(async () => {
    env = {
      DATABASE_URL: system.database.adminUrl,
      ...sharedRoles(system.database.adminUrl),
      // It counts the processes of other tests on the same server, too.
      DATABASE_POOL_SIZE: '3',
      AMQP_URL: testServers().amqpUrl ?? '',
      REDIS_URL: testServers().redisUrl ?? '',
      TOCSIN_NAMESPACE: system.namespace,
      TOCSIN_SECRET_KEYS: TEST_SECRET_KEYS,
      TOCSIN_DATA_DIR: folder.path,
    };
  });
  running(
    async () => databases,
    async () => Promise.all([...databases.values()].map(async (database) => database.destroy())),
  );

  /** As the administrator of the server, who may do what no role of an app may. */
  const database = (app: AppName): Knex => {
    const { name } = APPS[app].schema;
    const found =
      databases.get(app) ??
      openDatabase({ url: system.database.adminUrl, schema: name, application: 'test', poolSize: 1 });
    databases.set(app, found);
    return found;
  };

  const doctor = async (flags: string[] = [], settings: Record<string, string> = {}) => {
    const { output = '', error, exitCode } = await runAdmin(['doctor', ...flags, '--json'], { ...env, ...settings });
    const { checks = [] } = output === '' ? {} : (JSON.parse(output) as { checks: Line[] });
    return { exitCode, error, checks };
  };
  const rebuild = async (...flags: string[]) => {
    const { output = '', error } = await runAdmin(['replicas', 'rebuild', ...flags, '--json'], env);
    expect(error).toBeUndefined();
    return JSON.parse(output).rebuilt as { workspace: string; owner: string; version: number }[];
  };
  const withStatus = (checks: Line[], status: string) =>
    checks.filter((line) => line.status === status).map(({ check, message }) => `${check}: ${message}`);

  /** Expects exactly these problems, and that `--fix` repairs them. */
  const findsAndRepairs = async (...problems: RegExp[]) => {
    const found = await doctor();
    expect(withStatus(found.checks, 'problem')).toEqual(problems.map((each) => expect.stringMatching(each)));
    expect(found.exitCode).toBe(1);
    const { checks, exitCode } = await doctor(['--fix']);
    expect({ exitCode, problems: withStatus(checks, 'problem') }).toEqual({ exitCode: 0, problems: [] });
    // Some a service repairs itself, if it notices first.
    expect(withStatus(checks, 'fixed')).not.toEqual([]);
  };

  /** Waits until all that was published is in the event feed. */
  const feedIsComplete = async () =>
    eventually(async () => {
      const [outboxes, { exitCode }] = [
        await Promise.all(
          (['incident', 'catalog', 'custom-field'] as const).map(async (app) => database(app)('outbox').first('id')),
        ),
        await doctor(),
      ];
      const recorded = await database('webhook')('feed_workspaces').first('position');
      return exitCode === 0 && outboxes.every((row) => row === undefined) && (recorded?.position ?? 0) > 2;
    });
  const createTeam = async (name: string): Promise<number> => {
    const { status, body } = await client.post('/api/v1/teams', { name });
    expect(status).toBe(201);
    return body.team.id;
  };
  const createIncident = async (properties: object = {}) =>
    client.post('/api/v1/incidents', { title: 'Down', ...properties });
  const renameTeam = async (id: number, name: string) => {
    const { status } = await client.patch(`/api/v1/teams/${id}`, { name }, { 'If-Service-Resource-Version': '1' });
    expect(status).toBe(200);
  };
  const archiveTeam = async (id: number) => {
    const { status } = await client.delete(`/api/v1/teams/${id}`);
    expect(status).toBe(200);
  };

  test('knows every copy of data of another app', async () => {
    const { rows } = await database('gateway').raw<{ rows: { name: string }[] }>(
      `select table_schema || '.' || table_name as name from information_schema.tables
       where table_schema = any(?) and table_name like 'replica\\_%' order by 1`,
      [APP_NAMES.map((app) => APPS[app].schema.name)],
    );
    const copies = REPLICAS.flatMap(({ holder, tables }) =>
      tables.map(({ table }) => `${APPS[holder].schema.name}.${table}`),
    );
    // Tiers have no IDs and no versions of their own.
    const others = ['catalog.replica_versions', 'incident.replica_tiers', 'incident.replica_versions'];
    expect(rows.map(({ name }) => name)).toEqual([...copies, ...others].toSorted());
  });

  test('has no complaint about a healthy system, and names what it looks at', async () => {
    const team = await createTeam('Healthy');
    const first = { 'If-Service-Resource-Version': '1' };
    const { body: service } = await client.post('/api/v1/services', { name: 'Checkout' });
    const { body: field } = await client.post('/api/v1/custom-fields', { name: 'Cause', field_type: 'string' });
    const changed = [
      await client.patch(`/api/v1/services/${service.service.id}`, { owner_team_id: team }, first),
      await client.patch(`/api/v1/custom-fields/${field.field.id}`, { name: 'The cause' }, first),
    ];
    expect(changed.map(({ status }) => status)).toEqual([200, 200]);
    const who = ['--workspace', 'acme', '--email', 'ben@acme.example'];
    const { user } = await system.admin('user', 'create', ...who, '--name', 'Ben');
    expect((await client.post(`/api/v1/teams/${team}/members`, { user_id: user.id })).status).toBe(201);
    await system.admin('user', 'deactivate', ...who);
    await archiveTeam(await createTeam('Archived'));
    const { body } = await createIncident({ team_id: team });
    const event = { title: 'Found', body: 'The pool is full', started_at: '2026-11-20T09:00:00Z' };
    expect((await client.post(`/api/v1/incidents/${body.incident.id}/timeline`, event)).status).toBe(201);
    const lines: string[] = [];
    const { output, error, exitCode } = await runAdmin(['doctor'], env, (line) => lines.push(line));
    expect({ error, output: exitCode === 0 ? '' : output }).toEqual({ error: undefined, output: '' });
    const checks = 'settings migrations clocks pools sequences numbers replicas timelines storage feed secrets';
    for (const check of checks.split(' ')) {
      expect(output).toMatch(new RegExp(`^ok +${check} `, 'm'));
    }
    expect(output).toMatch(new RegExp(`^ok +broker +${Object.keys(QUEUES).length} queues with consumers`, 'm'));
    expect(lines).toEqual([
      expect.stringMatching(/^using database tocsin_test\S+ on .*, named by GATEWAY_DATABASE_URL$/),
      expect.stringMatching(/^using broker .*names that begin with tocsin-test-/),
      expect.stringMatching(/^using Redis .*names that begin with tocsin-test-/),
      ...['INCIDENT', 'CATALOG', 'CUSTOM_FIELD', 'WEBHOOK'].map((name): unknown =>
        expect.stringMatching(new RegExp(`, named by ${name}_DATABASE_URL$`)),
      ),
    ]);
  });

  test('says when the processes may open more connections than the server has', async () => {
    const { exitCode, checks } = await doctor([], { DATABASE_POOL_SIZE: '500' });
    const problems = withStatus(checks, 'problem');
    expect(problems).toEqual([
      expect.stringMatching(
        /^pools: \d+ processes with DATABASE_POOL_SIZE=500 may open \d+ connections, but the server has \d+: lower/,
      ),
    ]);
    // Those of other tests use the same server. Each has its pool, one for readiness, and some one for notifications.
    const [processes = 0, , connections = 0] = (problems[0]?.match(/\d+/g) ?? []).map(Number);
    expect(processes).toBeGreaterThanOrEqual(5);
    expect(connections).toBeGreaterThan(processes * 501);
    expect(connections).toBeLessThan(processes * 502);
    expect(exitCode).toBe(1);
  });

  test('says what it cannot check, and exits with 2', async () => {
    const noDatabases = Object.fromEntries(Object.keys(sharedRoles(env['DATABASE_URL'] ?? '')).map((key) => [key, '']));
    const { exitCode, checks } = await doctor([], { REDIS_URL: '' });
    expect(withStatus(checks, 'unknown')).toEqual([
      'clocks: Redis is not checked: set REDIS_URL as the services have it',
      'replicas: Redis is not checked: set REDIS_URL as the services have it',
    ]);
    expect(exitCode).toBe(2);
    expect(await doctor([], { DATABASE_URL: '', ...noDatabases })).toMatchObject({
      exitCode: 2,
      error: expect.stringMatching(/^no database is named/),
    });
    const unreachable = await doctor([], { ...noDatabases, DATABASE_URL: 'postgres://postgres@127.0.0.1:1/tocsin' });
    expect(unreachable.exitCode).toBe(2);
  });

  test('finds and repairs a counter of incident numbers that is behind', async () => {
    await createIncident();
    await database('incident')('incident_counters').update({ last: 1 });
    await findsAndRepairs(/^numbers: workspace \d+: the last number is 1, and there is INC-2$/);
    expect(await createIncident()).toMatchObject({ status: 201, body: { incident: { human_id: 'INC-3' } } });
  });

  test('finds and repairs wrong counters of timelines', async () => {
    const row = () =>
      database('incident')('incidents').orderBy('id').first('event_count', 'last_event_at', 'last_event_summary');
    const before = await row();
    await database('incident')('incidents').where({ number: 1 }).update({ event_count: 7, last_event_summary: 'x' });
    await findsAndRepairs(/^timelines: 1 incident of 3 incidents \(ID \d+\) have wrong counters/);
    expect(await row()).toEqual(before);
  });

  test('finds and repairs sequences that would give IDs out again', async () => {
    await database('catalog').raw(`select setval('teams_id_seq', 1, false)`);
    await findsAndRepairs(
      /^sequences: catalog\.teams_id_seq is at 0, and its table has the ID \d+/,
      /^sequences: catalog\.teams_id_seq is at 0, and other services know the ID \d+/,
    );
    await createTeam('After the repair');
  });

  test('finds and repairs bytes that are not measured', async () => {
    await eventually(async () => database('incident')('workspace_storage').first('workspace_id'));
    await database('incident')('workspace_storage').update({ measured_bytes: -1 });
    await findsAndRepairs(/^storage: the bytes of the workspaces \d+ are not measured/);
  });

  test('finds secrets that no key opens, dead letters, and a schema of a later release', async () => {
    const url = 'https://hooks.example.com/tocsin';
    await client.post('/api/v1/settings/webhooks', { url, event_types: ['incident.created'] });
    const other = await doctor([], { TOCSIN_SECRET_KEYS: generateSecretKeys() });
    expect(withStatus(other.checks, 'problem')).toEqual([
      expect.stringMatching(/^secrets: no key opens 1 of 1 signing secrets of webhooks: /),
      expect.stringMatching(/^secrets: no key opens 1 of 1 addresses of webhooks: /),
    ]);
    const letter = {
      queue: 'incident.replicas',
      message_id: crypto.randomUUID(),
      type: 'x',
      body: '{}',
      reason: 'rejected',
    };
    await database('catalog')('dead_letters').insert(letter);
    const later = { name: '20990101000000_later', batch: 9, migration_time: new Date() };
    await database('custom-field')('migrations').insert(later);
    const { exitCode, checks } = await doctor(['--fix']);
    expect(withStatus(checks, 'problem')).toEqual([
      'migrations: the schema custom_field is of a later release (20990101000000_later): use its code',
      'messages: catalog: 1 dead letter: look at them with dead-letters list and show',
    ]);
    expect(exitCode).toBe(1);
    await database('catalog')('dead_letters').delete();
    await database('custom-field')('migrations').where({ name: later.name }).delete();
  });

  test('says before an upgrade what the release needs of the system that runs', async () => {
    const addresses = Object.fromEntries(
      APP_NAMES.map((app) => [APPS[app].addressVariable, system.internalUrl(app)]),
    ) as Record<string, string>;
    const file = path.join(folder.path, 'settings');
    const before = async (content: string, settings: Record<string, string> = addresses) => {
      await writeFile(file, content);
      return doctor(['--before-upgrade', '--settings', file], settings);
    };
    const ready = await before('RATE_LIMIT_PER_MINUTE=100\nTOCSIN_SECRET_KEYS_FILE=/run/keys\n');
    expect({ ...ready, problems: withStatus(ready.checks, 'problem') }).toMatchObject({ exitCode: 0, problems: [] });
    expect(ready.checks.map(({ check }) => check)).toEqual(
      expect.arrayContaining(['versions', 'migrations', 'transactions', 'settings']),
    );
    expect(withStatus(ready.checks, 'ok')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^versions: 5 processes run \d+\.\d+\.\d+$/),
        'migrations: no migration is pending',
        expect.stringMatching(/^settings: this release knows and accepts the 2 settings of /),
      ]),
    );

    const older = createServer((_request, response) => response.end(JSON.stringify({ version: '0.0.9' }))).listen(0);
    await once(older, 'listening');
    const { migration_time, batch } = await database('incident')('migrations').orderBy('name', 'desc').first();
    const index = '20261124120000_create_schema';
    await database('incident')('migrations').whereIn('name', [index]).delete();
    try {
      const { port } = older.address() as AddressInfo;
      const mixed = {
        ...addresses,
        CATALOG_URL: `${addresses['CATALOG_URL']},http://127.0.0.1:${port}`,
        WEBHOOK_URL: '',
      };
      const found = await before('MAX_BODY_BYTES=x\nGONE_SETTING=1\n', mixed);
      expect(found.exitCode).toBe(1);
      expect(withStatus(found.checks, 'problem')).toEqual([
        expect.stringMatching(
          /^versions: processes of several releases run: .*0\.0\.9 \(catalog\): finish the last upgrade/,
        ),
        expect.stringMatching(/^settings: GONE_SETTING of .* is no setting of this release/),
        expect.stringMatching(/^settings: .*MAX_BODY_BYTES/),
      ]);
      expect(withStatus(found.checks, 'unknown')).toEqual([
        'versions: webhook is not asked: set WEBHOOK_URL as the services have it',
      ]);
      expect(withStatus(found.checks, 'note')).toEqual(
        expect.arrayContaining([
          expect.stringMatching(
            new RegExp(
              `^migrations: 1 migration of the schema incident will run: ${index}; their indexes need up to \\d+ MiB`,
            ),
          ),
        ]),
      );
    } finally {
      await database('incident')('migrations').insert({ name: index, batch, migration_time });
      older.close();
    }
    expect(await doctor(['--before-upgrade', '--fix'])).toMatchObject({
      exitCode: 2,
      error: expect.stringContaining('--fix'),
    });
  });

  test('finds a service that does not run, and repairs a queue that is missing', async () => {
    await system.stopApp('catalog');
    await database('catalog')('outbox').insert({
      message_id: crypto.randomUUID(),
      type: 'nobody.listens',
      body: '{}',
      created_at: database('catalog').raw(`now() - interval '2 hours'`),
    });
    const connection = await connect(env['AMQP_URL'] ?? '');
    const channel = await connection.createChannel();
    await channel.deleteQueue(`${system.namespace}.catalog.replicas`);
    const problems = withStatus((await doctor()).checks, 'problem');
    expect(problems).toEqual([
      expect.stringMatching(/^messages: catalog: 1 event in the outbox, the oldest for 72\d\d s/),
      expect.stringMatching(/^broker: the queue tocsin-test-\w+\.catalog\.replicas is missing/),
    ]);
    expect(withStatus((await doctor(['--fix'])).checks, 'problem')).toEqual([
      expect.stringMatching(/^messages: catalog: 1 event in the outbox/),
      expect.stringMatching(/^broker: nobody consumes the queue tocsin-test-\w+\.catalog\.replicas/),
    ]);
    await connection.close();
    await system.startApp('catalog');
    await eventually(async () => (await doctor()).exitCode === 0);
  });

  test('finds and repairs an event feed whose counter is behind', async () => {
    const feed = () => database('webhook')('feed_workspaces');
    await feedIsComplete();
    const { position } = await feed().first('position');
    await feed().update({ position: position - 1 });
    await findsAndRepairs(
      new RegExp(`^feed: workspace \\d+: the last position is ${position - 1}, and there is an event at ${position}$`),
    );
    expect(await feed().first('position')).toEqual({ position });
  });

  test('finds and repairs the times of a clock that was set forward', async () => {
    const db = database('webhook');
    await feedIsComplete();
    const { workspace_id: id, position } = await db('feed_workspaces').first('workspace_id', 'position');
    const tomorrow = db.raw(`now() + interval '1 day'`);
    await db('feed_workspaces').where({ workspace_id: id }).update({ recorded_at: tomorrow });
    await db('feed_events').where({ workspace_id: id, position }).update({ recorded_at: tomorrow });
    await createIncident();
    const latest = async () =>
      db('feed_events').where({ workspace_id: id }).orderBy('position', 'desc').first('position', 'recorded_at');
    // It has the time of the one before it.
    await eventually(async () => (await latest()).position > position);
    expect(Date.parse((await latest()).recorded_at)).toBeGreaterThan(Date.now());
    await findsAndRepairs(
      new RegExp(`^feed: the clock of the database has yet to reach times in the feeds of the workspaces ${id}: `),
    );
    expect(Date.parse((await latest()).recorded_at)).toBeLessThanOrEqual(Date.now());
    await createIncident();
    await eventually(async () => (await latest()).position > position + 1);
    const { rows } = await db.raw(
      `select position, recorded_at < lag(recorded_at) over (order by position) as "isEarlier" from feed_events where workspace_id = ?`,
      [id],
    );
    expect(rows.filter(({ isEarlier }: { isEarlier: boolean | null }) => isEarlier === true)).toEqual([]);
  });

  test('finds events of the feed that are missing, that are not deleted, and that wait', async () => {
    const events = () => database('webhook')('feed_events');
    await feedIsComplete();
    await events().where({ position: 1 }).delete();
    await events()
      .where({ position: 2 })
      .update({ recorded_at: database('webhook').raw(`now() - interval '32 days'`) });
    await system.stopApp('webhook');
    await createIncident();
    await database('webhook')('feed_workspaces').update({
      recorded_at: database('webhook').raw(`now() - interval '1 hour'`),
    });
    const waiting = /^feed: \d events? waiting in the queue, and the latest one was recorded 3[67]\d\d s ago/;
    const problems = await eventually(async () => {
      const { checks } = await doctor();
      const found = withStatus(checks, 'problem').filter((line) => line.startsWith('feed: '));
      return found.some((line) => waiting.test(line)) && found;
    });
    expect(problems).toEqual([
      expect.stringMatching(/^feed: 1 event missing among the latest 1000 of the workspaces \d+: /),
      expect.stringMatching(/^feed: there are events of more than 31 days: /),
      expect.stringMatching(waiting),
    ]);
    // A longer retention, and the sweep that an operator would run.
    const longer = await doctor([], { WEBHOOK_FEED_RETENTION_DAYS: '60' });
    expect(withStatus(longer.checks, 'problem')).not.toContainEqual(expect.stringContaining('there are events of'));
    await events().where('position', '<=', 2).delete();
    await database('webhook')('feed_workspaces').update({ swept: 2 });
    await system.startApp('webhook');
    await eventually(async () => (await doctor()).exitCode === 0);
  });

  /** Keeps the catalog as it is; returns a function that restores it. */
  const keepCatalog = async (): Promise<() => Promise<void>> => {
    const db = database('catalog');
    const tables = [
      'teams',
      'services',
      'team_members',
      'on_call_sources',
      'workspace_versions',
      'configurations',
      'replica_versions',
      'replica_users',
    ];
    const { rows: sequences } = await db.raw(
      `select sequencename as name, last_value as value from pg_sequences where schemaname = 'catalog' and last_value is not null`,
    );
    await db.raw('create schema kept');
    for (const table of tables) await db.raw(`create table kept.${table} as table catalog.${table}`);
    return async () => {
      await system.stopApp('catalog');
      await db.transaction(async (trx) => {
        await trx.raw(`set local session_replication_role = 'replica'`);
        await trx.raw(`truncate ${tables.map((table) => `catalog.${table}`).join(', ')}`);
        for (const table of tables) await trx.raw(`insert into catalog.${table} table kept.${table}`);
        for (const { name, value } of sequences) await trx.raw(`select setval('catalog.${name}', ${value})`);
        await trx.raw('drop schema kept cascade');
      });
      await system.startApp('catalog');
    };
  };

  /** Waits until the incident service has a team as it was published again; it has the team at each moment. */
  const isReplaced = async (rebuilding: ReturnType<typeof rebuild>, id: number) => {
    let published = Infinity;
    void rebuilding.then(([owned]) => (published = owned?.version ?? 0));
    for (let version = 0; version < published;) {
      ({ version } = await database('incident')('replica_teams').where({ id }).first('version'));
      await delay(5);
    }
  };

  test('repairs replicas that are ahead of a catalog that was restored to an earlier moment', async () => {
    const old = await createTeam('Old');
    expect((await createIncident({ team_id: old })).status).toBe(201);
    const restore = await keepCatalog();
    const lost = await createTeam('Lost');
    await client.post('/api/v1/services', { name: 'Lost service' });
    await renameTeam(old, 'Lost name');
    expect((await createIncident({ team_id: lost })).status).toBe(201);
    await restore();

    // Without a repair the replica ignores what happens now: it has the team at a later version.
    await archiveTeam(old);
    expect((await createIncident({ team_id: old })).status).toBe(201);
    const found = await doctor();
    expect(found.exitCode).toBe(1);
    expect(withStatus(found.checks, 'problem')).toEqual([
      expect.stringMatching(/^sequences: catalog\.teams_id_seq is at \d+, and other services know the ID \d+/),
      expect.stringMatching(/^sequences: catalog\.services_id_seq is at \d+, and other services know the ID \d+/),
      expect.stringMatching(
        /^replicas: acme: the data of catalog is at version \d+, and version \d+ is known elsewhere: was its/,
      ),
    ]);
    expect(withStatus((await doctor(['--fix'])).checks, 'fixed')).toHaveLength(2);
    const rebuilding = rebuild('--workspace', 'acme', '--owner', 'catalog');
    await isReplaced(rebuilding, old);
    expect(await rebuilding).toEqual([{ workspace: 'acme', owner: 'catalog', version: expect.any(Number) }]);

    // From now on changes arrive, lost rows are gone everywhere, and no ID is given out twice.
    expect((await createIncident({ team_id: old })).status).toBe(400);
    expect((await createIncident({ team_id: lost })).status).toBe(400);
    const next = await createTeam('Lost');
    expect(next).toBeGreaterThan(lost);
    expect((await createIncident({ team_id: next })).status).toBe(201);
    await archiveTeam(next);
    expect((await createIncident({ team_id: next })).status).toBe(400);
    await eventually(async () => (await doctor()).exitCode === 0);
  });

  test('repairs replicas that differ although a restored catalog has counted as far again', async () => {
    const old = await createTeam('Same version');
    const other = await createTeam('Other');
    await createIncident({ team_id: old });
    const restore = await keepCatalog();
    const lost = await createTeam('Lost again');
    await renameTeam(old, 'Lost name');
    await createIncident({ team_id: lost });
    await restore();
    await archiveTeam(old);
    await renameTeam(other, 'Other name');
    // The announced version is that of the lost change, and the event of the archived team is older than the team's row in
    // the replica: to the incident service nothing has happened.
    expect((await createIncident({ team_id: old })).status).toBe(201);
    const { checks } = await doctor();
    expect(withStatus(checks, 'problem')).toEqual([
      expect.stringMatching(/^sequences: catalog\.teams_id_seq/),
      expect.stringMatching(
        /^replicas: acme: the data of catalog differs from its replica in incident at the version \d+: /,
      ),
    ]);
    await doctor(['--fix']);
    await isReplaced(rebuild('--owner', 'catalog'), old);
    expect((await doctor()).exitCode).toBe(0);
    expect((await createIncident({ team_id: old })).status).toBe(400);
    expect((await createIncident({ team_id: lost })).status).toBe(400);
  });

  test('repairs replicas that are ahead of the gateway', async () => {
    await database('gateway')('workspaces').update({ version: database('gateway').raw('version - 2') });
    expect(withStatus((await doctor()).checks, 'problem')).toEqual([
      expect.stringMatching(
        /^replicas: acme: the data of gateway is at version \d+, and version \d+ is known elsewhere/,
      ),
    ]);
    const rebuilt = await rebuild();
    expect(rebuilt.map(({ owner }) => owner)).toEqual(['gateway', 'catalog', 'custom-field']);
    expect((await createIncident()).status).toBe(201);
    expect((await doctor()).exitCode).toBe(0);
  });

  test('repairs numbers that webhooks know and incidents do not have any more', async () => {
    const { rows } = await database('incident').raw('select max(last) as last from incident_counters');
    const subscription = await database('webhook')('subscriptions').first('workspace_id', 'id');
    await database('webhook')('activity').insert({
      workspace_id: subscription.workspace_id,
      subscription_id: subscription.id,
      started_at: new Date(),
      ended_at: new Date(),
      after_number: rows[0].last + 5,
    });
    await findsAndRepairs(
      /^numbers: workspace \d+: the last number is \d+, and webhooks know INC-\d+: was the database/,
    );
    expect((await createIncident()).body.incident.human_id).toBe(`INC-${Number(rows[0].last) + 6}`);
  });

  test('finds nothing of a workspace that was deleted, also after the deletion was interrupted', async () => {
    const owner = await system.as({ workspace: 'gone', role: 'owner' });
    await owner.post('/api/v1/teams', { name: 'Team' });
    await owner.post('/api/v1/custom-fields', { name: 'Field', field_type: 'string' });
    await owner.post('/api/v1/settings/webhooks', { url: 'https://hooks.acme.example/' });
    const { incident } = (await owner.post('/api/v1/incidents', { title: 'Gone' }, { 'Idempotency-Key': 'x' })).body;
    await owner.post(`/api/v1/incidents/${incident.id}/timeline`, { body: 'Gone' });
    await eventually(async () => (await owner.get('/api/v1/events?from=beginning')).body.events.length > 3);
    const run = async (...args: string[]) => runAdmin(['workspace', ...args, '--slug', 'gone', '--json'], env);
    expect((await run('suspend')).error).toBeUndefined();
    await eventually(async () => (await owner.get('/api/v1/me')).status === 401);
    expect((await run('delete', '--confirm', 'gone')).error).toMatch('suspended for seven days');
    expect((await run('delete', '--confirm', 'acme')).error).toMatch('must be gone');
    const [{ id }] = await database('gateway')('workspaces').where({ slug: 'gone' }).select('id');
    // In seven days, the storage would have been scheduled for the last time: it is, with that of a later write of another.
    const other = await system.as({ workspace: 'later', role: 'owner' });
    await other.post('/api/v1/incidents', { title: 'Later' });
    const later = database('gateway')('workspaces').where({ slug: 'later' }).select('id');
    await eventually(async () =>
      database('incident')('workspace_storage')
        .where({ workspace_id: (await later)[0].id })
        .first(),
    );
    await database('gateway').raw(`update workspaces set suspended_at = now() - interval '8 days' where id = ?`, [id]);
    // Redis is away when all rows but the last one are deleted.
    const settings = { ...env, REDIS_URL: '' };
    const interrupted = await runAdmin(['workspace', 'delete', '--slug', 'gone', '--confirm', 'gone'], settings);
    expect(interrupted.error).toMatch('Redis');
    await database('incident')('incident_counters').insert({ workspace_id: id, last: 1 });
    expect((await run('delete', '--confirm', 'gone')).error).toBeUndefined();
    expect((await doctor()).exitCode).toBe(0);
    for (const app of APP_NAMES) {
      const { rows: tables } = await database(app).raw<{ rows: { name: string }[] }>(
        `select table_name as name from information_schema.columns
         where table_schema = ? and column_name = 'workspace_id' and table_name <> 'deleted_workspaces'`,
        [APPS[app].schema.name],
      );
      for (const { name } of tables)
        expect([app, name, await database(app)(name).where({ workspace_id: id })]).toEqual([app, name, []]);
    }
    await database('webhook')('feed_workspaces').insert({ workspace_id: id });
    expect(withStatus((await doctor()).checks, 'problem')).toEqual([
      expect.stringContaining('webhook has data of deleted workspaces: run workspace delete again for gone'),
    ]);
    expect((await run('delete', '--confirm', 'gone')).error).toBeUndefined();
    expect((await doctor()).exitCode).toBe(0);
  });
});
