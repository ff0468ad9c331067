import {
  openKeyring,
  generateSecretKeys,
  createLogger,
  memoryVersions,
  openDatabase,
  type Knex,
} from '@tocsin/runtime';
import { MemoryBroker } from '@tocsin/messaging';
import { PRINCIPAL_HEADER, PRINCIPAL_PURPOSE, signPrincipal } from '@tocsin/http';
import { startApp } from '../../../services/incident/src/app.ts';
import { incidentConfig } from '../../../services/incident/src/config.ts';
import { REPORTING_CURRENCY, VERSION } from '../../seed/world.ts';

/** The incident service in this process, asked on behalf of the biggest workspace of a seeded database. */
export interface Subject {
  get(path: string): Promise<Record<string, unknown>>;
  /** A connection like the service's own. */
  database: Knex;
  stop(): Promise<void>;
}

const WORKSPACE = 1;

export async function startSubject(databaseUrl: string): Promise<Subject> {
  const secretKeys = generateSecretKeys();
  const versions = memoryVersions();
  // As if the owners had told: nobody has to be asked.
  await versions.raise('catalog', WORKSPACE, VERSION);
  await versions.raise('custom_field', WORKSPACE, VERSION);
  const nobody = 'http://127.0.0.1:9';
  const config = incidentConfig({
    TOCSIN_SECRET_KEYS: secretKeys,
    INCIDENT_DATABASE_URL: databaseUrl,
    GATEWAY_INTERNAL_URL: nobody,
    CATALOG_URL: nobody,
    CUSTOM_FIELD_URL: nobody,
  });
  const app = await startApp(config, {
    log: createLogger({ app: 'incident', level: 'warn' }),
    broker: new MemoryBroker(),
    versions,
  });
  const database = openDatabase({ url: databaseUrl, schema: 'incident', application: 'tocsin-bench', poolSize: 1 });
  const keyring = openKeyring(secretKeys, PRINCIPAL_PURPOSE);
  const workspace = {
    id: WORKSPACE,
    slug: 'seed-1',
    version: VERSION,
    is_demo: false,
    history_days: null,
    reporting_currency: REPORTING_CURRENCY,
    short_title_required: false,
  };
  return {
    database,
    async get(path) {
      const principal = signPrincipal(keyring, { kind: 'user', workspace, user_id: 1, key_id: 1 });
      const response = await fetch(new URL(path, app.url), { headers: { [PRINCIPAL_HEADER]: principal } });
      const body = (await response.json()) as Record<string, unknown>;
      if (!response.ok) throw new Error(`${path}: ${JSON.stringify(body)}`);
      return body;
    },
    async stop() {
      await database.destroy();
      await app.stop();
    },
  };
}
