import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createTestDatabase, type TestDatabase, testServers } from '@tocsin/testing';
import pg from 'pg';
import { contractions } from '../../compat/compare-catalogs.ts';
import {
  migratedCatalog,
  readAcceptedChanges,
  readSchemaBaseline,
  type SchemaBaseline,
} from '../../compat/schema-baseline.ts';
import { lastRelease } from '../../compat/last-release.ts';
import { type Catalog, readCatalog } from '../../compat/schema-catalog.ts';

const databaseName = () => `tocsin_test_${testServers().runId}_${randomBytes(4).toString('hex')}`;
const serverUrl = () => testServers().databaseUrl;

/** Before the first release there is nothing to compare; the end of the run's output counts what is skipped. */
const describeSinceRelease = lastRelease() === undefined ? describe.skip : describe;

async function releasedSchema(): Promise<SchemaBaseline> {
  const baseline = await readSchemaBaseline();
  if (baseline === undefined) throw new Error('there is no release yet');
  return baseline;
}

describeSinceRelease('the migrations since the last release', () => {
  test('take nothing from its processes that infra/verification/compat/accepted-schema-changes.json does not explain', async () => {
    const { catalog } = await releasedSchema();
    const changes = contractions(catalog, await migratedCatalog({ serverUrl: serverUrl(), name: databaseName() }));
    const accepted = (await readAcceptedChanges()).map(({ change }) => change);
    expect(changes.filter((change) => !accepted.includes(change))).toEqual([]);
    // An entry for a change that does not exist would allow it later.
    expect(accepted.filter((change) => !changes.includes(change))).toEqual([]);
  });

  test('are not the only change: the released ones, with the code that they share, make what they made', async () => {
    const { catalog, migrations: only } = await releasedSchema();
    expect(await migratedCatalog({ serverUrl: serverUrl(), name: databaseName(), only })).toEqual(catalog);
  });
});

describe('the comparison of schemas', () => {
  let database: TestDatabase;
  let client: pg.Client;
  let before: Catalog;

  beforeAll(async () => {
    database = await createTestDatabase();
    client = new pg.Client({ connectionString: database.adminUrl });
    await client.connect();
    await client.query(`
      create schema shop;
      create type shop.colour as enum ('red', 'blue');
      create function shop.twice(n integer) returns integer language sql as 'select 2 * n';
      create table shop.kinds (id bigint primary key, remark text);
      create table shop.things (
        id bigint primary key, kind_id bigint not null, name text not null default '', note text, size integer not null
      );
      create unique index things_name on shop.things (name);
      create index things_note on shop.things (note);
      alter table shop.things add constraint positive check (size > 0);
      create view shop.large as select id from shop.things where size > 10;`);
    before = await readCatalog(client, ['shop']);
  });
  afterAll(async () => {
    await client.end();
    await database.drop();
  });

  /** The changes that statements make, in a transaction that is undone. */
  async function changesBy(statements: string): Promise<string[]> {
    await client.query('begin');
    try {
      await client.query(statements);
      return contractions(before, await readCatalog(client, ['shop']));
    } finally {
      await client.query('rollback');
    }
  }

  test.each([
    ['a new table', 'create table shop.orders (id bigint primary key, at timestamptz not null, unique (at))'],
    ['a column that may be null', 'alter table shop.things add column weight integer'],
    ['a column with a default', 'alter table shop.things add column weight integer not null default 0'],
    ['a generated column', 'alter table shop.things add column doubled integer generated always as (size * 2) stored'],
    ['an index', 'create index things_size on shop.things (size)'],
    [
      'constraints of new columns alone',
      `alter table shop.things add column weight integer check (weight > 0), add column key text,
         add column other bigint references shop.kinds (id), add unique (kind_id, key)`,
    ],
    [
      'a new function, type and view',
      `create type shop.a as enum ('x'); create view shop.v as select id from shop.kinds`,
    ],
  ])('accepts %s', async (_what, statements) => {
    expect(await changesBy(statements)).toEqual([]);
  });

  test.each([
    ['drop table shop.kinds', 'table shop.kinds is dropped'],
    ['alter table shop.things drop column kind_id', 'column shop.things.kind_id is dropped'],
    ['alter table shop.kinds rename column remark to note', 'column shop.kinds.remark is dropped'],
    ['alter table shop.kinds rename to sorts', 'table shop.kinds is dropped'],
    [
      'alter table shop.things alter column kind_id type text',
      'column shop.things.kind_id had the type bigint, now text',
    ],
    [
      'alter table shop.things alter column note type text collate "C"',
      'column shop.things.note had the type text, now text collate C',
    ],
    ['alter table shop.things alter column note set not null', 'column shop.things.note must not be null any more'],
    ['alter table shop.things alter column name drop not null', 'column shop.things.name may now be null'],
    [
      'alter table shop.things alter column name drop default',
      "column shop.things.name had the default ''::text, now null",
    ],
    [
      'alter table shop.things add column weight integer not null',
      'column shop.things.weight is new and has neither a default nor may it be null',
    ],
    [
      'alter table shop.things add constraint small check (size < 100)',
      'constraint small of shop.things is new: CHECK ((size < 100))',
    ],
    [
      'alter table shop.things add constraint one_note unique (note)',
      'constraint one_note of shop.things is new: UNIQUE (note)',
    ],
    [
      'alter table shop.things add constraint of_kind foreign key (kind_id) references shop.kinds (id)',
      'constraint of_kind of shop.things is new: FOREIGN KEY (kind_id) REFERENCES shop.kinds(id)',
    ],
    [
      'create unique index one_size on shop.things (size) where note is not null',
      'index one_size of shop.things is new: CREATE UNIQUE INDEX one_size ON shop.things USING btree (size) WHERE (note IS NOT NULL)',
    ],
    [
      'alter table shop.things add column key text, add constraint one_key unique nulls not distinct (key)',
      'constraint one_key of shop.things is new: UNIQUE NULLS NOT DISTINCT (key)',
    ],
    ['drop index shop.things_name', 'index things_name of shop.things is dropped'],
    ['drop index shop.things_note', 'index things_note of shop.things is dropped'],
    [
      'drop index shop.things_note; create index things_note on shop.things (note, size)',
      'index things_note of shop.things is changed',
    ],
    ['alter table shop.kinds drop constraint kinds_pkey', 'constraint kinds_pkey of shop.kinds is dropped'],
    [
      'alter table shop.things drop constraint positive, add constraint positive check (size > 1)',
      'constraint positive of shop.things is changed',
    ],
    [
      `create function shop.stop() returns trigger language plpgsql as 'begin return null; end';
       create trigger stops before insert on shop.things for each row execute function shop.stop()`,
      'trigger stops of shop.things is new: CREATE TRIGGER stops BEFORE INSERT ON shop.things FOR EACH ROW EXECUTE FUNCTION shop.stop()',
    ],
    ['drop view shop.large', 'view shop.large is dropped'],
    ['drop function shop.twice', 'function shop.twice(integer) is dropped'],
    [
      `create or replace function shop.twice(n integer) returns integer language sql as 'select 3 * n'`,
      'function shop.twice(integer) is changed',
    ],
    ['drop type shop.colour', 'enum shop.colour is dropped'],
  ])('refuses %s', async (statements, change) => {
    expect(await changesBy(statements)).toEqual([change]);
  });
});
