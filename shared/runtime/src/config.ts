import { z } from 'zod';

/** A setting is missing or malformed. The message names every variable at fault, one a line, and never its value. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a process's settings once, at its edge. An empty variable counts as unset, as Compose passes it.
 * @throws ConfigError naming each variable that is missing or malformed
 */
export function readConfig<Shape extends z.ZodRawShape>(shape: Shape, env: Environment): z.output<z.ZodObject<Shape>> {
  const present = Object.fromEntries(
    Object.keys(shape)
      .map((name) => [name, env[name]] as const)
      .filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = z.object(shape).safeParse(present);
  if (parsed.success) return parsed.data;
  throw new ConfigError(
    parsed.error.issues
      .map(
        (issue) =>
          `${issue.path.join('.')}: ${present[String(issue.path[0])] === undefined ? 'is not set' : issue.message}`,
      )
      .join('\n'),
  );
}

const url = (protocols: string[]) =>
  z.string().refine((value) => URL.canParse(value) && protocols.includes(new URL(value).protocol), {
    message: `must be a URL with ${protocols.join(' or ')}`,
  });

const flag = z.enum(['0', '1', 'true', 'false']).transform((value) => value === '1' || value === 'true');

/** Building blocks for the settings that several processes share; `.env.example` documents each. */
export const setting = {
  url,
  flag,
  port: z.coerce.number().int().min(0).max(65535),
  count: z.coerce.number().int().min(1),
  /** Comma-separated, blanks dropped. */
  list: z.string().transform((value) =>
    value
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== ''),
  ),
};

export const processSettings = {
  NODE_ENV: z.enum(['production', 'development', 'test']).default('development'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('info'),
  HOST: z.string().default('127.0.0.1'),
  PORT: setting.port.default(0),
  TOCSIN_SECRET_KEYS: z.string(),
  /** Begins every name on the broker and in Redis, so that several installations can share them. */
  TOCSIN_NAMESPACE: z
    .string()
    .regex(/^[a-z][a-z0-9_-]{0,31}$/, 'must be a short lower-case word')
    .default('tocsin'),
};

export const brokerSettings = { AMQP_URL: url(['amqp:', 'amqps:']).default('amqp://guest:guest@127.0.0.1:5672') };

export const redisSettings = { REDIS_URL: url(['redis:', 'rediss:']).default('redis://127.0.0.1:6379') };

const postgres = url(['postgres:', 'postgresql:']);

/** `<SERVICE>_DATABASE_URL` comes first; else the service's own role on the server of `DATABASE_URL`. */
export const databaseSettings = {
  DATABASE_URL: postgres.default('postgres://postgres@127.0.0.1:5432/tocsin'),
  DATABASE_POOL_SIZE: setting.count.default(10),
};

export const ownDatabaseUrl = postgres.optional();

/** The same server and database, as the role that owns one service's schema. */
export function urlForRole(databaseUrl: string, role: string): string {
  const own = new URL(databaseUrl);
  own.username = role;
  return own.href;
}
