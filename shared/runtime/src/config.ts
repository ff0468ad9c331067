import { z } from 'zod';
import { ConfigError } from './config-error.ts';
import { type Environment, FILE, readSetting } from './file-settings.ts';
import { findKnownSecretViolation } from './known-secrets.ts';
import { urlsOfHosts } from './hosts.ts';
import { publicUrl } from './public-url.ts';

/**
 * Reads a process's settings at its start. An empty variable counts as unset, because Compose passes unset ones like
 * that. A secret can be in a file, which `<name>_FILE` names. In production a published secret, such as a default of an
 * earlier release, is an error.
 * @param contradictions returns a line for each setting that does not fit another one: `<name>: must …`
 * @throws ConfigError naming each variable that is missing or malformed
 */
export function readConfig<Shape extends z.ZodRawShape>(
  shape: Shape,
  env: Environment,
  contradictions: (read: z.output<z.ZodObject<Shape>>) => string[] = () => [],
): z.output<z.ZodObject<Shape>> {
  const violations: string[] = [];
  const present = new Map<string, string>();
  for (const name of Object.keys(shape)) {
    try {
      const value = readSetting(env, name);
      if (value !== undefined) present.set(name, value);
    } catch (error) {
      violations.push((error as Error).message);
    }
  }
  const parsed = z.object(shape).safeParse(Object.fromEntries(present));
  if (!parsed.success) {
    const unreadable = new Set(violations.map((violation) => violation.slice(0, violation.indexOf(FILE))));
    for (const issue of parsed.error.issues) {
      const name = issue.path.join('.');
      if (!unreadable.has(name)) violations.push(`${name}: ${present.has(name) ? issue.message : 'is not set'}`);
    }
  } else violations.push(...contradictions(parsed.data));
  if (env['NODE_ENV'] === 'production') {
    for (const [name, value] of present) {
      const violation = findKnownSecretViolation(name, value);
      if (violation !== undefined) violations.push(`${name}: ${violation}`);
    }
  }
  if (!parsed.success || violations.length > 0) throw new ConfigError(violations.join('\n'));
  return parsed.data;
}

const isUrl = (value: string, protocols: readonly string[]) =>
  URL.canParse(value) && protocols.includes(new URL(value).protocol);
const isHttpUrl = (value: string) => isUrl(value, ['http:', 'https:']);

const url = (protocols: string[]) =>
  z.string().refine((value) => isUrl(value, protocols), { message: `must be a URL with ${protocols.join(' or ')}` });

/** A URL with one host or several, separated by commas. */
const urlOfHosts = (protocols: string[]) =>
  z.string().refine((value) => urlsOfHosts(value).every((each) => isUrl(each, protocols)), {
    message: `must be a URL with ${protocols.join(' or ')}`,
  });

/** More than any service has processes. */
const MAX_SERVICE_URLS = 64;

const items = z.string().transform((value) =>
  value
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== ''),
);

/** A number that is written in digits only. */
const integer = ({ min, max }: { min: number; max: number }) => {
  const message = `must be a whole number from ${min} to ${max}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, message)
    .transform(Number)
    .pipe(z.number(message).min(min, message).max(max, message));
};

const flag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true');

/** Schemas for settings of common types. */
export const setting = {
  url,
  urlOfHosts,
  publicUrl,
  flag,
  integer,
  port: integer({ min: 0, max: 65_535 }),
  /** The host of a server for clients; by default both loopback addresses, 127.0.0.1 and ::1. */
  loopback: z.string().default('localhost'),
  /** Comma-separated; blank items are dropped. */
  list: items,
  /** The addresses of another service: one URL, or several, comma-separated. */
  serviceUrls: items
    .refine((urls) => urls.length > 0 && urls.length <= MAX_SERVICE_URLS && urls.every(isHttpUrl), {
      message: `must be a URL with http: or https:, or up to ${MAX_SERVICE_URLS} of them, comma-separated`,
    })
    .refine((urls) => new Set(urls).size === urls.length, { message: 'must not contain a URL twice' }),
};

export const processSettings = {
  NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  HOST: z.string().default('127.0.0.1'),
  PORT: setting.port.default(0),
  /** With the 15 seconds for responses and what follows, within the 25 seconds that the end of a process may take. */
  DRAIN_SECONDS: z.coerce.number().min(0).max(5).optional(),
  /** The commit that an image was built from; a checkout knows its own. */
  TOCSIN_COMMIT: z
    .string()
    .regex(/^[0-9a-f]{7,64}$/, 'must be the hash of a commit')
    .optional(),
  TOCSIN_SECRET_KEYS: z.string(),
  /** Prefix of every name on the broker, in Redis, and of roles in PostgreSQL, so that several installations can share them. */
  TOCSIN_NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must start with a lower-case letter and have at most 32 of a-z, 0-9, _ and -')
    .default('tocsin'),
};

/** Where processes are replaced under load, something has to notice that one of them stops. */
const PRODUCTION_DRAIN_SECONDS = 3;

/** Milliseconds in which a process that stops announces it; by default none outside of production. */
export const drainTimeOf = (read: { DRAIN_SECONDS?: number | undefined; NODE_ENV: string }): number =>
  1_000 * (read.DRAIN_SECONDS ?? (read.NODE_ENV === 'production' ? PRODUCTION_DRAIN_SECONDS : 0));

/** A URL without parameters that would be ignored in silence. */
const urlWith = (protocols: string[], parameters: readonly string[]) =>
  urlOfHosts(protocols).superRefine((value, context) => {
    const names = [...(URL.parse(urlsOfHosts(value)[0])?.searchParams.keys() ?? [])];
    const ignored = names.find((name) => !parameters.includes(name));
    if (ignored !== undefined)
      context.addIssue({ code: 'custom', message: `must not have ${ignored}, which is not supported` });
  });

export const brokerSettings = {
  AMQP_URL: urlWith(['amqp:', 'amqps:'], ['heartbeat', 'channelMax', 'frameMax', 'locale']).default(
    'amqp://guest:guest@127.0.0.1:5672',
  ),
};

const isOneRedis = (url: string) => urlsOfHosts(url).length === 1 && !/[?&](?:master|sentinel\w+)=/.test(url);

export const redisSettings = {
  REDIS_URL: urlWith(
    ['redis:', 'rediss:', 'redis-sentinel:', 'rediss-sentinel:'],
    ['db', 'family', 'master', 'sentinelUsername', 'sentinelPassword'],
  )
    .refine((value) => /^rediss?-sentinel:/.test(value) || isOneRedis(value), {
      message: 'must have one host, or be redis-sentinel:// with the Sentinels',
    })
    .default('redis://127.0.0.1:6379'),
};
