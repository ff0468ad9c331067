import { readFileSync } from 'node:fs';
import { openDatabase } from '@tocsin/postgres';
import { changeTemplates } from '@tocsin/testing';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { partitionTables } from '../../migrate/partition-tables.ts';

/** Has all tests run with the largest tables partitioned. */
export function partitionTemplates(partitions: number): void {
  const code = readFileSync(new URL('../../migrate/partition-tables.ts', import.meta.url), 'utf8');
  const tablesOf = (schema: string) =>
    APP_NAMES.map((app) => APPS[app].schema).find(({ name }) => name === schema)?.largest ?? [];
  changeTemplates({
    identity: JSON.stringify([partitions, code, APP_NAMES.map((app) => APPS[app].schema.largest)]),
    change: async (url, schema) => {
      const database = openDatabase({ url, schema, application: 'test', poolSize: 1 });
      try {
        await partitionTables(database, tablesOf(schema), partitions);
      } finally {
        await database.destroy();
      }
    },
  });
}
