import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { ensureDatabase, ensureSchemaOwner, migrate, urlForRole } from '@tocsin/postgres';
import { z } from 'zod';
import { APP_NAMES, APPS } from '../../installation/apps.ts';
import { withClient } from '../../installation/databases.ts';
import { dropDatabase } from '../systems/drop-database.ts';
import { checkRelease, lastRelease } from './last-release.ts';
import { type MigrationHashes, presentMigrations } from './migration-files.ts';
import { type Catalog, catalogSchema, readCatalog } from './schema-catalog.ts';

const FILE = path.join(import.meta.dirname, 'schema-baseline.json');
const ACCEPTED = path.join(import.meta.dirname, 'accepted-schema-changes.json');

const baselineSchema = z.strictObject({
  release: z.string().min(1),
  migrations: z.record(z.string(), z.record(z.string(), z.string())),
  catalog: catalogSchema,
});

/** The migrations of the last release, and the schema that they make. */
export type SchemaBaseline = z.infer<typeof baselineSchema>;

const acceptedSchema = z.array(z.strictObject({ change: z.string().min(1), reason: z.string().trim().min(1) }));

/** Undefined before the first release. */
export async function readSchemaBaseline(): Promise<SchemaBaseline | undefined> {
  if (lastRelease() === undefined) return undefined;
  const baseline = baselineSchema.parse(JSON.parse(await readFile(FILE, 'utf8')));
  checkRelease(FILE, baseline.release);
  return baseline;
}

/** Changes of the schema that processes of the last release survive for a reason that the catalog does not show. */
export const readAcceptedChanges = async (): Promise<z.infer<typeof acceptedSchema>> =>
  acceptedSchema.parse(JSON.parse(await readFile(ACCEPTED, 'utf8')));

/** Makes the present schema the baseline, and empties the list of accepted changes. */
export async function writeSchemaBaseline(release: string, catalog: Catalog): Promise<void> {
  const baseline: SchemaBaseline = {
    release,
    migrations: presentMigrations(),
    catalog,
  };
  await writeFile(FILE, `${JSON.stringify(baseline, null, 1)}\n`);
  await writeFile(ACCEPTED, '[]\n');
}

/**
 * Migrates a new database of this name, and returns what is in it; the database is dropped again.
 * @param options.only the migrations that run; default: all
 */
export async function migratedCatalog(options: {
  serverUrl: string;
  name: string;
  only?: MigrationHashes;
}): Promise<Catalog> {
  const { serverUrl, name, only } = options;
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  try {
    await ensureDatabase(url.href);
    for (const app of APP_NAMES) {
      const { name: schema, migrations } = APPS[app].schema;
      const owner = {
        schema,
        migrations,
        url: urlForRole(url.href, `tocsin_${schema}`),
        ...(only !== undefined && { only: new Set(Object.keys(only[schema] ?? {})) }),
      };
      await ensureSchemaOwner(url.href, owner);
      await migrate(owner);
    }
    return await withClient(url.href, async (client) => readCatalog(client, schemaNames()));
  } finally {
    await dropDatabase(serverUrl, name);
  }
}

const schemaNames = (): string[] => APP_NAMES.map((app) => APPS[app].schema.name);
