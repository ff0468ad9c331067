import { describe, expect, test } from '@jest/globals';
import { ConfigError, generateSecretKeys } from '@tocsin/runtime';
import { webhookConfig } from '../src/config.ts';
import { CONTRACT_LIMITS } from '../src/requests/domain/limits.ts';

const base = { TOCSIN_SECRET_KEYS: generateSecretKeys(), INCIDENT_URL: 'http://127.0.0.1:1' };

describe('limits', () => {
  test('are those of the contract', () => {
    expect(webhookConfig(base)).toMatchObject({
      requestLimits: CONTRACT_LIMITS,
      deliveryLimits: { maxQueued: 1_000, retention: 7 * 86_400_000, revokedRetention: 30 * 86_400_000 },
      feedRetentionDays: 30,
      feedMaxBytes: 2_147_483_648,
      waiting: { ofWorkspace: 100, inAll: 2_500 },
    });
  });

  test('a limit for receivers applies to host names and to addresses', () => {
    const { requestLimits } = webhookConfig({
      ...base,
      WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER: '60',
      WEBHOOK_MAX_REQUESTS_PER_RECEIVER: '4',
    });
    expect(requestLimits.windows.delivery).toMatchObject({ workspace: 30, host: 60, ip: 60 });
    expect(requestLimits.slots).toMatchObject({ host: 4, ip: 4 });
  });

  test.each([
    ['WEBHOOK_MAX_REQUESTS', '0'],
    ['WEBHOOK_DELIVERIES_PER_MINUTE', '6001'],
    ['WEBHOOK_DELIVERY_RETENTION_DAYS', '1'],
    ['WEBHOOK_FEED_RETENTION_DAYS', '3651'],
    ['WEBHOOK_FEED_MAX_MB_PER_WORKSPACE', '63'],
    ['WEBHOOK_MAX_QUEUED_PER_WORKSPACE', '999'],
  ])('%s cannot be %s', (name, value) => {
    expect(() => webhookConfig({ ...base, [name]: value })).toThrow(
      new RegExp(`^${name}: must be a whole number from \\d+ to \\d+$`),
    );
  });

  test('an inbox keeps its rows at least as long as the events', () => {
    const long = { ...base, WEBHOOK_DELIVERY_RETENTION_DAYS: '30' };
    expect(() => webhookConfig(long)).toThrow(
      /^INBOX_RETENTION_DAYS: must be at least WEBHOOK_DELIVERY_RETENTION_DAYS \(30\)$/,
    );
    expect(webhookConfig({ ...long, INBOX_RETENTION_DAYS: '30' }).serviceLimits.inboxDays).toBe(30);
  });

  test('revoked webhooks are kept at least as long as their deliveries', () => {
    const long = { ...base, WEBHOOK_DELIVERY_RETENTION_DAYS: '60', INBOX_RETENTION_DAYS: '60' };
    expect(() => webhookConfig(long)).toThrow(
      /^WEBHOOK_REVOKED_RETENTION_DAYS: must be at least WEBHOOK_DELIVERY_RETENTION_DAYS \(60\)$/,
    );
    const { deliveryLimits } = webhookConfig({ ...long, WEBHOOK_REVOKED_RETENTION_DAYS: '60' });
    expect(deliveryLimits.revokedRetention).toBe(60 * 86_400_000);
  });

  test('a queue is not longer than what can be sent before the deadline', () => {
    const slow = { ...base, WEBHOOK_DELIVERIES_PER_MINUTE_PER_RECEIVER: '1' };
    expect(webhookConfig({ ...slow, WEBHOOK_MAX_QUEUED_PER_WORKSPACE: '1440' }).deliveryLimits.maxQueued).toBe(1_440);
    expect(() => webhookConfig({ ...slow, WEBHOOK_MAX_QUEUED_PER_WORKSPACE: '1441' })).toThrow(
      /^WEBHOOK_MAX_QUEUED_PER_WORKSPACE: must be at most 1440, /,
    );
  });
});

test('test receivers are host:port pairs', () => {
  const { allowed } = webhookConfig({
    ...base,
    WEBHOOK_TEST_RECEIVERS: 'LocalHost:8443, 127.0.0.1:9443,[::1]:9443',
  }).egress;
  expect([...allowed.testReceivers]).toEqual(['localhost:8443', '127.0.0.1:9443', '[::1]:9443']);
  expect(webhookConfig(base).egress.allowed.testReceivers.size).toBe(0);
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
  expect(webhookConfig({ ...production, WEBHOOK_TEST_RECEIVERS: '' }).egress.allowed.testReceivers.size).toBe(0);
});

test('networks that receivers may be in are opened by the operator, and checked at the start', () => {
  const production = { ...base, NODE_ENV: 'production' };
  expect(webhookConfig(production).egress.allowed.networks).toEqual([]);
  const networks = '10.0.0.0/8:8443, fd00::/8:443';
  expect(webhookConfig({ ...production, WEBHOOK_ALLOWED_NETWORKS: networks }).egress.allowed.networks).toEqual([
    { cidr: '10.0.0.0/8', port: 8443 },
    { cidr: 'fd00::/8', port: 443 },
  ]);
  expect(() => webhookConfig({ ...base, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8:443,127.0.0.0/8:443' })).toThrow(
    /^WEBHOOK_ALLOWED_NETWORKS: 127\.0\.0\.0\/8:443 has only loopback/,
  );
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
  const PUBLIC_URL = 'https://{workspace}.tocsin.example.com';
  expect(webhookConfig({ ...base, PUBLIC_URL }).resourceUrl).toBe(`${PUBLIC_URL}/app/incidents/{id}`);
  expect(webhookConfig({ ...base, PUBLIC_URL, WEBHOOK_RESOURCE_URL: link }).resourceUrl).toBe(link);
});
