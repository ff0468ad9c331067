import { symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { listMigrations, migrate } from '@tocsin/postgres';
import { describeWithBroker } from '@tocsin/testing/suites';
import pg from 'pg';
import { APPS } from '../../installation/apps.ts';
import { running, runningSystem, temporaryFolder } from '../../verification/systems/running.ts';

const { name: schema, migrations } = APPS.incident.schema;
const MIGRATION = '29990101000000_alter';

describeWithBroker('a migration while the system runs and a backup reads', () => {
  const system = runningSystem();
  const folder = temporaryFolder();
  const reader = running(
    async () => {
      const client = new pg.Client({ connectionString: system.database.adminUrl, application_name: 'test-backup' });
      await client.connect();
      return client;
    },
    async (client) => client.end(),
  );

  beforeAll(async () => {
    for (const name of await listMigrations(migrations)) {
      await symlink(path.join(migrations, `${name}.ts`), path.join(folder.path, `${name}.ts`));
    }
    await writeFile(
      path.join(folder.path, `${MIGRATION}.ts`),
      `export const up = async (knex) => { await knex.raw('alter table incidents add column note text'); };`,
    );
  });

  test('fails no request, and ends after the backup', async () => {
    const client = await system.as();
    await client.post('/api/v1/incidents', { title: 'Checkout fails' });
    await reader.query('begin isolation level repeatable read');
    await reader.query(`select count(*) from ${schema}.incidents`);

    const messages: string[] = [];
    const onWait = (message: string) => messages.push(message);
    const migration = migrate({ url: system.database.url(schema), schema, migrations: folder.path }, { onWait });
    const read = async () => (await client.get('/api/v1/incidents')).status;
    const statuses = new Set<number>();
    // Some of these wait behind the migration, until it gives up.
    while (messages.length === 0) statuses.add(await read());
    for (let count = 0; count < 50; count += 1) statuses.add(await read());
    expect([...statuses]).toEqual([200]);

    await reader.query('commit');
    expect(await migration).toEqual([MIGRATION]);
    expect(messages).toEqual([expect.stringContaining(`${MIGRATION} waits for session`)]);
    expect(await read()).toBe(200);
  });
});
