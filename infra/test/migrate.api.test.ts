import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { urlForRole } from '@tocsin/runtime';
import { testServers } from '@tocsin/testing';
import pg from 'pg';
import { migrateConfig } from '../migrate/config.ts';
import { migrateAll } from '../migrate/migrate-all.ts';

const SCHEMAS = ['catalog', 'custom_field', 'gateway', 'incident', 'webhook'];

let name: string;
let databaseUrl: string;
beforeEach(() => {
  name = `tocsin_test_${testServers().runId}_${randomBytes(4).toString('hex')}`;
  databaseUrl = urlOf(name);
});
afterEach(async () => {
  await query(urlOf('postgres'), `drop database if exists ${name} with (force)`);
});

function urlOf(database: string): string {
  const url = new URL(testServers().databaseUrl);
  url.pathname = `/${database}`;
  return url.href;
}

async function query(url: string, statement: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(statement)).rows;
  } finally {
    await client.end();
  }
}

/** Runs the command's work; answers the lines that it prints. */
async function migrated(env: Record<string, string>): Promise<string[]> {
  const lines: string[] = [];
  await migrateAll(migrateConfig(env), (line) => lines.push(line));
  return lines.toSorted();
}

const ownUrls = (url: string) =>
  Object.fromEntries(
    SCHEMAS.map((schema) => [`${schema.toUpperCase()}_DATABASE_URL`, urlForRole(url, `tocsin_${schema}`)]),
  );

const UP_TO_DATE = SCHEMAS.map((schema) => `${schema}: up to date`);

test('makes the database, and a schema and a role for each service', async () => {
  const lines = await migrated({ DATABASE_URL: databaseUrl });
  expect(lines.map((line) => line.split(':')[0])).toEqual(SCHEMAS);
  expect(lines.join()).not.toContain('up to date');
  const owners = await query(
    databaseUrl,
    `select nspname as schema, pg_get_userbyid(nspowner) as owner from pg_namespace where nspname in (${SCHEMAS.map((schema) => `'${schema}'`).join()}) order by 1`,
  );
  expect(owners).toEqual(SCHEMAS.map((schema) => ({ schema, owner: `tocsin_${schema}` })));
});

test('has nothing to do the second time', async () => {
  await migrated({ DATABASE_URL: databaseUrl });
  expect(await migrated({ DATABASE_URL: databaseUrl })).toEqual(UP_TO_DATE);
});

test('may run several times at once: one does the work, the others find it done', async () => {
  const runs = await Promise.all([1, 2, 3].map(async () => migrated({ DATABASE_URL: databaseUrl })));
  for (const schema of SCHEMAS) {
    const lines = runs.flat().filter((line) => line.startsWith(`${schema}: `));
    expect(lines.filter((line) => line === `${schema}: up to date`)).toHaveLength(2);
  }
});

describe('where a service has a database of its own', () => {
  test('it is migrated, and nothing else is touched', async () => {
    await migrated({ DATABASE_URL: databaseUrl });
    const lines = await migrated(ownUrls(databaseUrl));
    expect(lines).toEqual(
      [
        ...UP_TO_DATE,
        'gateway, incident, catalog, custom_field, webhook: database and role are as their own URL has them',
      ].toSorted(),
    );
  });

  test('and it is the same one, role and schema are made there', async () => {
    const lines = await migrated({ DATABASE_URL: databaseUrl, ...ownUrls(databaseUrl) });
    expect(lines.map((line) => line.split(':')[0])).toEqual(SCHEMAS);
  });
});

test('a role that may not make anything is no obstacle where everything is there', async () => {
  await migrated({ DATABASE_URL: databaseUrl });
  const lines = await migrated({ DATABASE_URL: urlForRole(databaseUrl, 'tocsin_gateway'), ...ownUrls(databaseUrl) });
  expect(lines).toEqual(expect.arrayContaining(UP_TO_DATE));
  expect(lines.join()).toContain('the role of DATABASE_URL may not make databases, roles or schemas');
});

test('a server that is away is named', async () => {
  await expect(migrated({ DATABASE_URL: 'postgres://postgres@127.0.0.1:1/tocsin' })).rejects.toThrow(
    'DATABASE_URL: connect ECONNREFUSED 127.0.0.1:1',
  );
  await migrated({ DATABASE_URL: databaseUrl });
  const urls = { ...ownUrls(databaseUrl), WEBHOOK_DATABASE_URL: 'postgres://tocsin_webhook@127.0.0.1:1/tocsin' };
  await expect(migrated(urls)).rejects.toThrow(/^webhook: .*ECONNREFUSED/);
});
