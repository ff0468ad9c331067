import { expect, test } from '@jest/globals';
import { ConfigError, generateSecretKeys } from '@tocsin/runtime';
import { incidentConfig } from '../src/config.ts';

const base = {
  TOCSIN_SECRET_KEYS: generateSecretKeys(),
  GATEWAY_INTERNAL_URL: 'http://gateway:8081',
  CATALOG_URL: 'http://catalog:8080',
  CUSTOM_FIELD_URL: 'http://custom-field:8080',
};

test('test receivers may use loopback addresses, except in production', () => {
  const named = { ...base, WEBHOOK_TEST_RECEIVERS: 'LocalHost:8443,[::1]:9443' };
  expect([...incidentConfig(named).testReceivers]).toEqual(['localhost:8443', '[::1]:9443']);
  expect(incidentConfig(base).testReceivers.size).toBe(0);
  expect(() => incidentConfig({ ...named, NODE_ENV: 'production' })).toThrow(ConfigError);
  expect(() => incidentConfig({ ...base, WEBHOOK_TEST_RECEIVERS: 'localhost' })).toThrow(/^WEBHOOK_TEST_RECEIVERS: /);
});
