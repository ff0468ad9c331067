import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openDatabase } from '@tocsin/postgres';
import { createTestDatabase, type TestDatabase } from '@tocsin/testing';
import { schema } from '../../../services/incident/src/schema.ts';
import { withDatabase } from '../../installation/databases.ts';
import { partitionTables } from '../../migrate/partition-tables.ts';
import { exportDatabase } from '../export-database.ts';
import { importDatabase } from '../import-database.ts';
import { withSession } from '../session.ts';

const WORKSPACES = 40;

let folder: string;
let file: string;
let databases: [partitioned: TestDatabase, other: TestDatabase];
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'tocsin-partitioned-'));
  file = path.join(folder, 'partitioned.backup');
  const { migrations } = schema;
  databases = [
    await createTestDatabase({ schema: 'incident', migrations }),
    await createTestDatabase({ schema: 'incident', migrations }),
  ];
  const url = databases[0].url('incident');
  await withDatabase(
    openDatabase({ url, schema: 'incident', application: 'test', poolSize: 1 }),
    async (database) => void (await partitionTables(database, schema.largest, 4)),
  );
});
afterAll(async () => {
  for (const database of databases) await database.drop();
  await rm(folder, { recursive: true });
});

test('a backup of partitioned tables is loaded into partitioned tables and into others', async () => {
  await withSession(databases[0].adminUrl, async (client) => {
    await client.query(`
      insert into incident.incidents (workspace_id, number, title, severity, severity_mode, status, issue_type,
        customer_impact_status, created_at, created_by)
      select workspace, 1, 'x', 'sev1', 'manual', 'open', 'incident', 'unknown', now(), '1'
      from generate_series(1, ${WORKSPACES}) as workspace`);
    await client.query('begin isolation level repeatable read read only');
    const backup = exportDatabase({
      ...{ client, schemas: ['incident'], secrets: {}, createdAt: 'now', productVersion: '0' },
      onTable: () => undefined,
    });
    await pipeline(backup, createGzip(), createWriteStream(file));
  });
  for (const { adminUrl } of databases) {
    const counts = await withSession(adminUrl, async (client) => {
      await importDatabase(client, file);
      return client.query('select count(*)::integer as count from incident.incidents');
    });
    expect(counts.rows).toEqual([{ count: WORKSPACES }]);
  }
});
