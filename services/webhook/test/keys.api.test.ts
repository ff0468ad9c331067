import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { generateSecretKeys } from '@tocsin/runtime';
import { eventually, type Receiver, startReceiver, TEST_SECRET_KEYS } from '@tocsin/testing';
import { Webhook } from 'standardwebhooks';
import { startApp } from '../src/app.ts';
import { webhookConfig } from '../src/config.ts';
import { resealBoxes } from '../src/usecases/reseal-boxes.ts';
import { vault } from '../src/usecases/vault.ts';
import { activeSubscription, publish, startService, type TestService } from './service.ts';

let service: TestService;
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
  service = await startService({ receivers: [receiver] });
});
afterAll(async () => {
  await service.stop();
  await receiver.stop();
});

test('a key can be replaced: what it sealed is sealed anew, and then it is needed no more', async () => {
  const { secret } = await activeSubscription(service, receiver.url('/in?key=1'));
  await service.app.stop();
  const fresh = generateSecretKeys().replace(/^[^:]+/, 'fresh');
  expect(await resealBoxes({ database: service.rows, vault: vault(`${fresh},${TEST_SECRET_KEYS}`) })).toBe(false);
  expect(await service.rows('secrets').select('key_id')).toEqual([{ key_id: 'fresh' }]);
  expect(await service.rows('subscriptions').select('url_key_id')).toEqual([{ url_key_id: 'fresh' }]);

  const app = await startApp(
    webhookConfig({
      NODE_ENV: 'test',
      LOG_LEVEL: 'silent',
      TOCSIN_SECRET_KEYS: fresh,
      WEBHOOK_DATABASE_URL: service.database.url('webhook'),
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
