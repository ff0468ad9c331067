import { createLogger, processSettings, readConfig, redisSettings } from '@tocsin/runtime';
import { openRedis, type Redis } from '@tocsin/runtime/redis';
import { once } from 'node:events';
import { MEMORY_BROKER } from '../../installation/apps.ts';
import type { Target } from '../target.ts';
import { type Finding, unknown } from './check.ts';

export type RedisOutcome<Result> =
  | { kind: 'done'; result: Result }
  /** The instance has none. */
  | { kind: 'none'; reason: string }
  | { kind: 'failed'; finding: Finding };

const CONNECT_TIMEOUT = 3_000;
/** A service gives Redis up after half a second; here nobody waits for a response. */
const ATTEMPTS = 3;

/** Runs `work`, which only reads, on the Redis that the settings name; there is no default. */
export async function withDoctorRedis<Result>(
  { env }: Pick<Target, 'env'>,
  work: (redis: Redis) => Promise<Result>,
): Promise<RedisOutcome<Result>> {
  if (env['TOCSIN_BROKER'] === MEMORY_BROKER) return { kind: 'none', reason: 'make start uses no Redis' };
  if ((env['REDIS_URL'] ?? '') === '') {
    return { kind: 'failed', finding: unknown('Redis is not checked: set REDIS_URL as the services have it') };
  }
  const config = readConfig(
    { REDIS_URL: redisSettings.REDIS_URL, TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE },
    env,
  );
  const options = {
    url: config.REDIS_URL,
    namespace: config.TOCSIN_NAMESPACE,
    log: createLogger({ app: 'admin', level: 'silent' }),
  };
  for (let attempt = 1; ; attempt += 1) {
    const redis = openRedis(options);
    try {
      if (redis.status !== 'ready') await once(redis, 'ready', { signal: AbortSignal.timeout(CONNECT_TIMEOUT) });
      return { kind: 'done', result: await work(redis) };
    } catch (error) {
      if (attempt === ATTEMPTS) return { kind: 'failed', finding: unknown(`cannot check Redis: ${describe(error)}`) };
    } finally {
      redis.disconnect();
    }
  }
}

function describe(error: unknown): string {
  const { name, message } = error as Error;
  return name === 'AbortError' ? 'it does not respond' : message;
}
