import { describe, expect, test } from '@jest/globals';
import { SERVICE_NAMES, SERVICES } from '@tocsin/schemas';
import { ConfigError } from '@tocsin/runtime';
import { gatewayConfig, gatewayDatabase } from '../src/config.ts';

const required = {
  TOCSIN_SECRET_KEYS: 'k:x',
  ...Object.fromEntries(SERVICE_NAMES.map((name, index) => [SERVICES[name].address, `http://127.0.0.1:${index + 1}`])),
};

describe('the settings', () => {
  test('have the defaults of the contract', () => {
    expect(gatewayConfig(required)).toMatchObject({
      http: { host: 'localhost', port: 8080 },
      internal: { host: '127.0.0.1', port: 0 },
      baseDomain: 'localhost',
      trustedProxies: [],
      defaultWorkspace: undefined,
      limits: {
        workspace: 1200,
        anonymous: 60,
        costPerRequest: 10,
        bytesPerRequest: 524_288,
        writtenBytes: 4_294_967_296,
      },
      shares: {
        requestsPerWorkspace: 100,
        requestsPerService: 256,
        waitingPerWorkspace: 100,
        waiting: 2_500,
        maxBodyBytes: 1_048_576,
        bodyBytesPerWorkspace: 16 * 1_048_576,
        bodyBytes: 256 * 1_048_576,
      },
      connections: { total: 5_000, perNetwork: 1_000 },
      database: {
        url: 'postgres://tocsin_gateway@127.0.0.1:5432/tocsin',
        poolSize: 7,
        deadlines: { read: 2_000 },
      },
    });
  });

  test('the internal address is loopback unless it is set, whatever the public address is', () => {
    const env = { ...required, HOST: '0.0.0.0', INTERNAL_PORT: '8081', BASE_DOMAIN: 'Tocsin.Example.com' };
    const config = gatewayConfig(env);
    expect([config.http.host, config.internal]).toEqual(['0.0.0.0', { host: '127.0.0.1', port: 8081 }]);
    expect(config.baseDomain).toBe('tocsin.example.com');
    expect(gatewayConfig({ ...env, HOST: '::1', INTERNAL_HOST: '0.0.0.0' })).toMatchObject({
      http: { host: '::1' },
      internal: { host: '0.0.0.0', port: 8081 },
    });
  });

  test('GATEWAY_DATABASE_URL overrides DATABASE_URL', () => {
    const url = 'postgres://somebody@elsewhere/db';
    expect(gatewayDatabase({ GATEWAY_DATABASE_URL: url, DATABASE_URL: 'postgres://a@b/c' }).url).toBe(url);
    expect(gatewayDatabase({ DATABASE_URL: 'postgres://a@b/c' }).url).toBe('postgres://tocsin_gateway@b/c');
  });

  test.each([
    ['TRUSTED_PROXIES', '10.0.0.0/8,proxy'],
    ['TRUSTED_PROXIES', '10.0.0.0/64'],
    ['BASE_DOMAIN', 'http://localhost'],
    ['RATE_LIMIT_PER_MINUTE', '0'],
    ['ANONYMOUS_RATE_LIMIT_PER_MINUTE', 'many'],
    ['PORT', '70000'],
    ['WEBHOOK_URL', 'ftp://a'],
    ['DEFAULT_WORKSPACE', 'acme.localhost'],
    ['MAX_CONNECTIONS', '0'],
    ['MAX_BODY_BYTES', '1048577'],
    ['MAX_BODY_BYTES', '1000'],
    ['MAX_ARRIVING_BYTES', '1048576'],
    ['DATABASE_POOL_SIZE', '2'],
    ['DATABASE_READ_TIMEOUT_MS', '10000'],
  ])('%s cannot be %s', (name, value) => {
    expect(() => gatewayConfig({ ...required, [name]: value })).toThrow(ConfigError);
    expect(() => gatewayConfig({ ...required, [name]: value })).toThrow(name);
  });

  test('the error names all missing settings', () => {
    expect(() => gatewayConfig({})).toThrow(/TOCSIN_SECRET_KEYS[^]*INCIDENT_URL[^]*WEBHOOK_URL/);
  });
});

test('a service may have several addresses', () => {
  const upstreams = (INCIDENT_URL: string) => gatewayConfig({ ...required, INCIDENT_URL }).upstreams.incident;
  expect(upstreams('http://one:8080, http://two:8080')).toEqual(['http://one:8080', 'http://two:8080']);
  for (const malformed of [',', 'http://one:8080,two:8080', 'amqp://one']) {
    expect(() => upstreams(malformed)).toThrow('INCIDENT_URL: must be a URL with http: or https:, or up to 64 of them');
  }
  expect(() => upstreams('http://one,http://one')).toThrow('INCIDENT_URL: must not contain a URL twice');
});

test('the drain takes three seconds in production, none elsewhere, and five at most', () => {
  const drainTime = (env: Record<string, string>) => gatewayConfig({ ...required, ...env }).drainTime;
  expect(drainTime({})).toBe(0);
  expect(drainTime({ DRAIN_SECONDS: '0.5' })).toBe(500);
  const AMQP_URL = 'amqp://own:own-password@broker';
  expect(drainTime({ NODE_ENV: 'production', AMQP_URL })).toBe(3_000);
  expect(drainTime({ NODE_ENV: 'production', AMQP_URL, DRAIN_SECONDS: '0' })).toBe(0);
  expect(() => drainTime({ DRAIN_SECONDS: '6' })).toThrow('DRAIN_SECONDS');
});
