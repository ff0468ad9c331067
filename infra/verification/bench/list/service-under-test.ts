import { openDatabase, type Knex } from '@tocsin/postgres';
import { openKeyring, generateSecretKeys, createLogger, memoryVersions } from '@tocsin/runtime';
import { MemoryBroker } from '@tocsin/messaging';
import { SCOPES } from '@tocsin/contracts';
import { PRINCIPAL_HEADER, principalPurpose, signPrincipal } from '@tocsin/http';
import { startApp } from '../../../../services/incident/src/app.ts';
import { incidentConfig } from '../../../../services/incident/src/config.ts';
import { REPORTING_CURRENCY, VERSION } from '../../seed/world.ts';

/** The incident service in this process, with requests for the largest workspace of a seeded database. */
export interface ServiceUnderTest {
  get(path: string): Promise<Record<string, unknown>>;
  /** A connection with the service's role. */
  database: Knex;
  stop(): Promise<void>;
}

const WORKSPACE = 1;

export async function startServiceUnderTest(databaseUrl: string): Promise<ServiceUnderTest> {
  const secretKeys = generateSecretKeys();
  const versions = memoryVersions();
  // The versions say that the replicas are complete, so the service does not ask their owners.
  await versions.raise('catalog', WORKSPACE, VERSION);
  await versions.raise('custom_field', WORKSPACE, VERSION);
  const unusedUrl = 'http://127.0.0.1:9';
  const config = incidentConfig({
    TOCSIN_SECRET_KEYS: secretKeys,
    INCIDENT_DATABASE_URL: databaseUrl,
    GATEWAY_INTERNAL_URL: unusedUrl,
    CATALOG_URL: unusedUrl,
    CUSTOM_FIELD_URL: unusedUrl,
  });
  const app = await startApp(config, {
    log: createLogger({ app: 'incident', level: 'warn' }),
    broker: new MemoryBroker(),
    versions,
  });
  const database = openDatabase({ url: databaseUrl, schema: 'incident', application: 'tocsin-bench', poolSize: 1 });
  const keyring = openKeyring(secretKeys, principalPurpose('gateway', 'incident'));
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
      const principal = signPrincipal(keyring, {
        kind: 'user',
        workspace,
        user_id: 1,
        key_id: 1,
        scopes: [...SCOPES],
        seat: 'responder',
        permissions: [],
      });
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
