import { expect, test } from '@jest/globals';
import { createLogger, createMetrics, generateSecretKeys } from '@tocsin/runtime';
import { eventually, TEST_SECRET_KEYS } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import { startApp } from '../src/app.ts';
import { webhookConfig } from '../src/config.ts';
import { encryptionRotation } from '../src/subscriptions/rotate-encryption.ts';
import { webhookMetrics } from '../src/queue/metrics.ts';
import { secretCipher } from '../src/subscriptions/secret-cipher.ts';
import { activeSubscription, publish, serviceWithReceiver } from './service.ts';

const { receiver, service } = await serviceWithReceiver();

/** Runs one pass, as the service does once an hour. Returns its metrics and its log. */
async function rotate(secretKeys: string): Promise<{ metrics: string; logged: string }> {
  let logged = '';
  const metrics = createMetrics('test');
  const time = async () => service.clock.now();
  const pass = encryptionRotation({
    database: service.knex,
    secretCipher: secretCipher(secretKeys),
    metrics: webhookMetrics({ registry: metrics, database: service.knex, time, openBreakers: () => 0 }),
    log: createLogger({ app: 'test', level: 'info', destination: { write: (line) => void (logged += line) } }),
  });
  while (await pass());
  return { metrics: await metrics.metrics(), logged };
}

test('after a key is replaced and a pass has run, the old key can be removed', async () => {
  const { secret } = await activeSubscription(service, receiver.url('/in?key=1'));
  await service.app.stop();
  const fresh = generateSecretKeys().replace(/^[^:]+/, 'fresh');
  await rotate(`${fresh},${TEST_SECRET_KEYS}`);
  expect(await service.knex('secrets').select('key_id')).toEqual([{ key_id: 'fresh' }]);
  expect(await service.knex('subscriptions').select('url_key_id')).toEqual([{ url_key_id: 'fresh' }]);

  const app = await startApp(
    webhookConfig({
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      TOCSIN_SECRET_KEYS: fresh,
      WEBHOOK_DATABASE_URL: service.database.url('webhook'),
      INCIDENT_URL: service.incidents.url,
      WEBHOOK_TEST_RECEIVERS: receiver.hostAndPort(),
    }),
    { broker: service.broker, clock: service.clock, ca: receiver.ca, dispatchInterval: 50 },
  );
  try {
    await publish(service, {});
    const { body, headers, path } = await eventually(() => receiver.requests[0]);
    expect(path).toBe('/in?key=1');
    expect(() => new Webhook(secret, { format: 'raw' }).verify(body, headers as Record<string, string>)).not.toThrow();
  } finally {
    await app.stop();
  }
});

test('ciphertexts that cannot be decrypted stay unchanged, counted and logged; all others are rotated', async () => {
  const seed = async (count: number, keyId: string, keys: string) => {
    const cipher = secretCipher(keys);
    for (let index = 0; index < count; index += 1) {
      const id = `${keyId}-${String(index).padStart(3, '0')}`;
      const url = cipher.encryptUrl('https://receiver.example/', id);
      const now = service.clock.now();
      await service.knex('subscriptions').insert({
        id,
        workspace_id: 1,
        origin: 'https://receiver.example',
        host: 'receiver.example',
        url_key_id: url.keyId,
        url_ciphertext: url.ciphertext,
        event_types: ['incident.created'],
        status: 'paused',
        created_at: now,
        updated_at: now,
      });
      const { keyId: key_id, ciphertext } = cipher.encryptSecret('whsec_x', id);
      await service
        .knex('secrets')
        .insert({ workspace_id: 1, subscription_id: id, key_id, ciphertext, created_at: now });
    }
  };
  const keysNamed = (id: string) => generateSecretKeys().replace(/^[^:]+/, id);
  const old = keysNamed('old');
  const fresh = keysNamed('newest');
  // More than one batch.
  await seed(120, 'lost', keysNamed('lost'));
  await seed(110, 'old', old);
  await service
    .knex('subscriptions')
    .where({ id: 'old-005' })
    .update({ url_ciphertext: Buffer.alloc(64) });

  const { metrics, logged } = await rotate(`${fresh},${old}`);
  const counts = async (table: string, column: string) =>
    service.knex(table).groupBy(column).orderBy(column).select(column).count<{ count: number }[]>({ count: '*' });
  expect(await counts('secrets', 'key_id')).toEqual([
    { key_id: 'lost', count: 120 },
    { key_id: 'newest', count: 110 },
  ]);
  expect(await counts('subscriptions', 'url_key_id')).toEqual([
    { url_key_id: 'lost', count: 120 },
    { url_key_id: 'newest', count: 109 },
    { url_key_id: 'old', count: 1 },
  ]);
  expect(metrics).toMatch(/^tocsin_webhook_undecryptable_values\{kind="secret".*\} 120$/m);
  expect(metrics).toMatch(/^tocsin_webhook_undecryptable_values\{kind="url".*\} 121$/m);
  expect(JSON.parse(logged)).toMatchObject({ level: 'error', secrets: 120, urls: 121, keys: ['lost', 'old'] });
});
