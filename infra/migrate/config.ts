import { databaseSettings, type Environment, ownDatabaseUrl, readConfig, urlForRole } from '@tocsin/runtime';
import { schema as catalog } from '../../services/catalog/src/schema.ts';
import { schema as customField } from '../../services/custom-field/src/schema.ts';
import { schema as incident } from '../../services/incident/src/schema.ts';
import { schema as webhook } from '../../services/webhook/src/schema.ts';
import { schema as gateway } from '../../gateway/src/schema.ts';

/** One service's schema, and the database that it goes into. */
export interface SchemaTarget {
  schema: string;
  /** The folder of its migrations. */
  migrations: string;
  /** As the role that owns the schema. */
  url: string;
  /** Whether database, role and schema are ours to make: not where somebody gave the service a database of its own. */
  ensured: boolean;
}

export interface MigrateConfig {
  /** Its role makes what is to be ensured. */
  databaseUrl: string;
  targets: SchemaTarget[];
}

const SCHEMAS = [gateway, incident, catalog, customField, webhook];

const ownVariable = (schema: string) => `${schema.toUpperCase()}_DATABASE_URL`;

/** @throws ConfigError naming each setting that is malformed */
export function migrateConfig(env: Environment): MigrateConfig {
  const own = Object.fromEntries(SCHEMAS.map(({ name }) => [ownVariable(name), ownDatabaseUrl]));
  const read = readConfig({ DATABASE_URL: databaseSettings.DATABASE_URL, ...own }, env) as Record<
    string,
    string | undefined
  > & {
    DATABASE_URL: string;
  };
  return {
    databaseUrl: read.DATABASE_URL,
    targets: SCHEMAS.map(({ name, migrations }) => {
      const url = read[ownVariable(name)];
      return {
        schema: name,
        migrations,
        url: url ?? urlForRole(read.DATABASE_URL, `tocsin_${name}`),
        ensured: url === undefined || (isGiven(env['DATABASE_URL']) && isSameDatabase(url, read.DATABASE_URL)),
      };
    }),
  };
}

const isGiven = (value: string | undefined) => value !== undefined && value !== '';

function isSameDatabase(one: string, other: string): boolean {
  const [a, b] = [new URL(one), new URL(other)];
  return a.hostname === b.hostname && (a.port || '5432') === (b.port || '5432') && a.pathname === b.pathname;
}
