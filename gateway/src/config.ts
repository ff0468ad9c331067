import { SERVICE_NAMES, type ServiceName, SERVICES } from '@tocsin/schemas';
import { bodySettings, waitingSettings } from '@tocsin/http';
import { databaseSettings, ownDatabaseUrl, poolOptions, roleOf, urlForRole } from '@tocsin/postgres';
import {
  brokerSettings,
  drainTimeOf,
  type Environment,
  processSettings,
  readConfig,
  redisSettings,
  setting,
} from '@tocsin/runtime';
import { egressOf, egressProblems, receiverSettings } from '@tocsin/safe-http';
import { CONTRACT_LIMITS, retentionSettings } from '@tocsin/service-host/config';
import { z } from 'zod';
import { trustedProxies } from './limits/domain/client-address.ts';
import { isSlug } from './identity/domain/host.ts';
import type { Shares } from './limits/domain/shares.ts';
import { schema } from './schema.ts';

const ownDatabase = { ...databaseSettings, GATEWAY_DATABASE_URL: ownDatabaseUrl };
const MEBIBYTE = 1_048_576;
/** What clients rely on (contract: Limits). Times are in milliseconds. */
const TIMES = { wait: 1_000, body: { deadline: 30_000, progress: 10_000 } };
/** Larger rates could not be counted exactly, nor stored as the limit of a workspace. */
const rate = setting.integer({ min: 1, max: 2_147_483_647 });
const share = setting.integer({ min: 1, max: 1_000_000 });
/** At least two of the largest bodies, and at most what a process of several gibibytes has for them. */
const arrivingBytes = setting.integer({ min: 2 * MEBIBYTE, max: 4_096 * MEBIBYTE });

const addressSettings = Object.fromEntries(
  SERVICE_NAMES.map((name) => [SERVICES[name].address, setting.serviceUrls]),
) as Record<(typeof SERVICES)[ServiceName]['address'], typeof setting.serviceUrls>;

const settings = {
  ...processSettings,
  ...ownDatabase,
  ...brokerSettings,
  ...redisSettings,
  ...receiverSettings,
  HOST: setting.loopback,
  PORT: setting.port.default(8080),
  INTERNAL_HOST: z.string().default('127.0.0.1'),
  INTERNAL_PORT: setting.port.default(0),
  BASE_DOMAIN: z
    .string()
    .toLowerCase()
    .regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/, 'must be a domain name')
    .default('localhost'),
  PUBLIC_URL: setting.publicUrl.optional(),
  DEFAULT_WORKSPACE: z.string().toLowerCase().refine(isSlug, 'must be the slug of a workspace').optional(),
  TRUSTED_PROXIES: setting.list.refine(areNetworks, 'must be IP addresses and networks, comma-separated').default([]),
  ...bodySettings,
  IDEMPOTENCY_RETENTION_HOURS: retentionSettings.IDEMPOTENCY_RETENTION_HOURS,
  RATE_LIMIT_PER_MINUTE: rate.default(1_200),
  ANONYMOUS_RATE_LIMIT_PER_MINUTE: rate.default(60),
  COST_PER_REQUEST: setting.integer({ min: 1, max: 1_000_000 }).default(10),
  BYTES_PER_REQUEST: setting.integer({ min: 1, max: 1_024 * MEBIBYTE }).default(524_288),
  MAX_WRITTEN_MB_PER_HOUR: setting.integer({ min: 1, max: 1_048_576 }).default(4_096),
  MAX_REQUESTS_PER_WORKSPACE: share.default(100),
  MAX_REQUESTS_PER_SERVICE: share.default(256),
  MAX_ARRIVING_BYTES: arrivingBytes.default(256 * MEBIBYTE),
  MAX_ARRIVING_BYTES_PER_WORKSPACE: arrivingBytes.default(16 * MEBIBYTE),
  MAX_CONNECTIONS: share.default(5_000),
  MAX_CONNECTIONS_PER_NETWORK: share.default(1_000),
  ...waitingSettings,
  ...addressSettings,
};

export type GatewayConfig = ReturnType<typeof gatewayConfig>;

/** @throws ConfigError naming each setting that is missing or malformed */
export function gatewayConfig(env: Environment) {
  const read = readConfig(settings, env, egressProblems);
  return {
    http: { host: read.HOST, port: read.PORT },
    // Not HOST: opening the API to a network must not open the metrics to it.
    internal: { host: read.INTERNAL_HOST, port: read.INTERNAL_PORT },
    drainTime: drainTimeOf(read),
    baseDomain: read.BASE_DOMAIN,
    /** Where clients reach workspaces, if that does not follow from the domain. */
    publicUrl: read.PUBLIC_URL,
    defaultWorkspace: read.DEFAULT_WORKSPACE,
    trustedProxies: read.TRUSTED_PROXIES,
    limits: {
      /** Requests a minute. */
      workspace: read.RATE_LIMIT_PER_MINUTE,
      anonymous: read.ANONYMOUS_RATE_LIMIT_PER_MINUTE,
      /** A workspace's limits of cost and bytes a minute are its limit of requests, multiplied by these. */
      costPerRequest: read.COST_PER_REQUEST,
      bytesPerRequest: read.BYTES_PER_REQUEST,
      /** Of a workspace in an hour. */
      writtenBytes: read.MAX_WRITTEN_MB_PER_HOUR * MEBIBYTE,
    },
    shares: {
      ...TIMES,
      maxBodyBytes: read.MAX_BODY_BYTES,
      bodyBytesPerWorkspace: read.MAX_ARRIVING_BYTES_PER_WORKSPACE,
      bodyBytes: read.MAX_ARRIVING_BYTES,
      waitingPerWorkspace: read.MAX_WAITING_REQUESTS_PER_WORKSPACE,
      requestsPerWorkspace: read.MAX_REQUESTS_PER_WORKSPACE,
      requestsPerService: read.MAX_REQUESTS_PER_SERVICE,
      // The rest of the connections is for other requests.
      waiting: Math.ceil(read.MAX_CONNECTIONS / 2),
    } satisfies Shares,
    /** Of its own operations. */
    serviceLimits: {
      ...CONTRACT_LIMITS,
      bodyBytes: read.MAX_BODY_BYTES,
      idempotencyHours: read.IDEMPOTENCY_RETENTION_HOURS,
    },
    /** Where the providers of workspaces may be. */
    egress: egressOf(read),
    connections: { total: read.MAX_CONNECTIONS, perNetwork: read.MAX_CONNECTIONS_PER_NETWORK },
    /** By the names of the services in the API descriptions. */
    upstreams: Object.fromEntries(SERVICE_NAMES.map((name) => [name, read[SERVICES[name].address]])) as Record<
      ServiceName,
      string[]
    >,
    logLevel: read.LOG_LEVEL,
    commit: read.TOCSIN_COMMIT,
    secretKeys: read.TOCSIN_SECRET_KEYS,
    namespace: read.TOCSIN_NAMESPACE,
    database: gatewayDatabase(env),
    amqpUrl: read.AMQP_URL,
    redisUrl: read.REDIS_URL,
  };
}

/** The settings for administration. @throws ConfigError like `gatewayConfig` */
export function gatewayDatabase(env: Environment) {
  const read = readConfig({ ...ownDatabase, TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE }, env);
  return {
    url: read.GATEWAY_DATABASE_URL ?? urlForRole(read.DATABASE_URL, roleOf(read.TOCSIN_NAMESPACE, schema.name)),
    ...poolOptions(read),
  };
}

function areNetworks(entries: string[]): boolean {
  try {
    trustedProxies(entries);
    return true;
  } catch {
    return false;
  }
}
