import { afterAll, expect, test } from '@jest/globals';
import { openDatabase } from '@tocsin/postgres';
import { createLogger, createMetrics, generateSecretKeys } from '@tocsin/runtime';
import { createTestDatabase } from '@tocsin/testing';
import { administration } from '../../src/administration.ts';
import { schema } from '../../src/schema.ts';
import { oidcProviderStore } from '../../src/sign-in/store/oidc-provider-store.ts';
import { oidcKeyring, openSecret, secretRotation } from '../../src/sign-in/oidc-secrets.ts';

const testDatabase = await createTestDatabase({ schema: schema.name, migrations: schema.migrations });
const url = testDatabase.url(schema.name);
const database = openDatabase({ url, schema: schema.name, application: 'test', poolSize: 2 });
afterAll(async () => {
  await database.destroy();
  await testDatabase.drop();
});

/** Connects a provider of a new workspace, whose client secret is the slug. */
async function connect(slug: string, secretKeys: string): Promise<number> {
  const admin = administration(database);
  const { id } = await admin.createWorkspace({ slug, name: slug });
  const provider = {
    issuer: 'https://login.example',
    clientId: 'tocsin',
    createsViewers: false,
    trustsEmail: false,
    groups: null,
  };
  await admin.connectOidc({ ...provider, workspace: slug, clientSecret: slug, secretKeys });
  return id;
}

test('after a key change the client secrets are encrypted again, and the old key can be removed', async () => {
  const [old, lost, fresh] = ['old', 'lost', 'fresh'].map((id) => generateSecretKeys().replace(/^[^:]+/, id));
  const ids = [await connect('first', old!), await connect('second', fresh!), await connect('third', lost!)];
  const secretsWith = async (keys: string) =>
    Promise.all(ids.map(async (id) => openSecret(oidcKeyring(keys), (await oidcProviderStore(database).find(id))!)));
  expect(await secretsWith(fresh!)).toEqual([undefined, 'second', undefined]);

  const metrics = createMetrics('test');
  const log = createLogger({ app: 'test', level: 'silent' });
  await secretRotation({ database, keyring: oidcKeyring(`${fresh},${old}`), log, metrics })();
  expect(await metrics.metrics()).toMatch(/^tocsin_oidc_unopened_secrets\{.*\} 1$/m);

  // A secret that no key opens does not affect the others, and stays until its key is back.
  expect(await secretsWith(fresh!)).toEqual(['first', 'second', undefined]);
  expect(await secretsWith(lost!)).toEqual([undefined, undefined, 'third']);
});
