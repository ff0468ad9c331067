import { expect, test } from '@jest/globals';
import { ConfigError, generateSecretKeys } from '@tocsin/runtime';
import { webhookConfig } from '../src/config.ts';

const base = { TOCSIN_SECRET_KEYS: generateSecretKeys(), INCIDENT_URL: 'http://127.0.0.1:1' };

test('test receivers are host:port pairs', () => {
  const { testReceivers } = webhookConfig({
    ...base,
    WEBHOOK_TEST_RECEIVERS: 'LocalHost:8443, 127.0.0.1:9443,[::1]:9443',
  });
  expect([...testReceivers]).toEqual(['localhost:8443', '127.0.0.1:9443', '[::1]:9443']);
  expect(webhookConfig(base).testReceivers.size).toBe(0);
});

test.each([
  'localhost',
  'localhost:',
  ':8443',
  'https://localhost:8443',
  'localhost:0',
  '*:8443',
  'localhost:8443/path',
])('%s is not a host:port pair', (pair) =>
  expect(() => webhookConfig({ ...base, WEBHOOK_TEST_RECEIVERS: pair })).toThrow(/^WEBHOOK_TEST_RECEIVERS: /),
);

test('test receivers are rejected in production; an empty list is accepted', () => {
  const production = { ...base, NODE_ENV: 'production' };
  expect(() => webhookConfig({ ...production, WEBHOOK_TEST_RECEIVERS: 'localhost:8443' })).toThrow(ConfigError);
  expect(webhookConfig({ ...production, WEBHOOK_TEST_RECEIVERS: '' }).testReceivers.size).toBe(0);
});

test('the service uses its own database role unless another is configured', () => {
  expect(webhookConfig({ ...base, DATABASE_URL: 'postgres://admin@db/tocsin' }).database.url).toBe(
    'postgres://tocsin_webhook@db/tocsin',
  );
  expect(webhookConfig({ ...base, WEBHOOK_DATABASE_URL: 'postgres://me@other/wh' }).database.url).toBe(
    'postgres://me@other/wh',
  );
});

test('a link to incidents must be a URL', () => {
  const link = 'https://{workspace}.example.com/{reference}';
  expect(webhookConfig({ ...base, WEBHOOK_RESOURCE_URL: link }).resourceUrl).toBe(link);
  expect(() => webhookConfig({ ...base, WEBHOOK_RESOURCE_URL: '/incidents/{id}' })).toThrow(ConfigError);
});
