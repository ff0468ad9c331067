import { expect, test } from '@jest/globals';
import { ConfigError, generateSecretKeys } from '@tocsin/runtime';
import { incidentConfig } from '../src/config.ts';

const base = {
  TOCSIN_SECRET_KEYS: generateSecretKeys(),
  GATEWAY_INTERNAL_URL: 'http://gateway:8081',
  CATALOG_URL: 'http://catalog:8080',
  CUSTOM_FIELD_URL: 'http://custom-field:8080',
};

test('limits have the defaults of the contract, and a range', () => {
  expect(incidentConfig(base)).toMatchObject({
    replicaWait: 800,
    serviceLimits: { bodyBytes: 1_048_576, idempotencyHours: 24, inboxDays: 7 },
  });
  expect(incidentConfig({ ...base, REPLICA_WAIT_MS: '1500' }).replicaWait).toBe(1_500);
  for (const wrong of [
    { REPLICA_WAIT_MS: '5001' },
    // Clients rely on a day.
    { IDEMPOTENCY_RETENTION_HOURS: '23' },
    { INBOX_RETENTION_DAYS: '0' },
  ]) {
    const [name] = Object.keys(wrong);
    expect(() => incidentConfig({ ...base, ...wrong })).toThrow(new RegExp(`^${name}: must be a whole number from`));
  }
});

test('test receivers may use loopback addresses, except in production', () => {
  const named = { ...base, WEBHOOK_TEST_RECEIVERS: 'LocalHost:8443,[::1]:9443' };
  expect([...incidentConfig(named).egress.allowed.testReceivers]).toEqual(['localhost:8443', '[::1]:9443']);
  expect(incidentConfig(base).egress.allowed.testReceivers.size).toBe(0);
  expect(() => incidentConfig({ ...named, NODE_ENV: 'production' })).toThrow(ConfigError);
  expect(() => incidentConfig({ ...base, WEBHOOK_TEST_RECEIVERS: 'localhost' })).toThrow(/^WEBHOOK_TEST_RECEIVERS: /);
});

test('documents may be in the networks that the operator opens', () => {
  const { allowed } = incidentConfig({ ...base, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8:8443' }).egress;
  expect(allowed.networks).toEqual([{ cidr: '10.0.0.0/8', port: 8443 }]);
  expect(() => incidentConfig({ ...base, WEBHOOK_ALLOWED_NETWORKS: '10.0.0.0/8' })).toThrow(
    /^WEBHOOK_ALLOWED_NETWORKS: must be networks with a port/,
  );
});
