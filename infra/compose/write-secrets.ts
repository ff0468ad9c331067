import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  ConfigError,
  type Environment,
  generateSecretKeys,
  findKnownSecretViolation,
  parseSecretKeys,
  processSettings,
  readConfig,
} from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS, passwordVariables } from '../apps.ts';
import { brokerDefinitions, brokerUser, brokerUsers } from '../broker-definitions.ts';
import { ignoreMissing } from '../missing-files.ts';
import { deriveServiceKeys } from '../service-keys.ts';

/** The folder of the secrets that the others are made of; no other container mounts it. */
const KEPT = 'kept';
const BROKER_ADMINISTRATOR = 'tocsin';
/** Passwords are written into URLs and configuration files. */
const PASSWORD = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Writes a folder for each container of docker-compose.yml with the secrets that it needs and no others: a file for
 * each setting, and the files that PostgreSQL, RabbitMQ and Redis read. Takes the secrets that `env` sets; generates
 * the others once and keeps them in the folder.
 * @throws ConfigError naming the setting that cannot be used
 */
export async function writeSecrets(folder: string, env: Environment): Promise<void> {
  const secret = async (name: string, generate: () => string) => {
    const configured = env[name] ?? '';
    const value = configured === '' ? await keptSecret(path.join(folder, KEPT, name), generate) : configured;
    const violation = env['NODE_ENV'] === 'production' ? findKnownSecretViolation(name, value) : undefined;
    if (violation !== undefined) throw new ConfigError(`${name}: ${violation}`);
    return value;
  };
  const password = async (name: string) => {
    const value = await secret(name, () => randomBytes(24).toString('base64url'));
    if (!PASSWORD.test(value)) {
      throw new ConfigError(`${name}: must be at most 128 letters, digits, hyphens and underscores`);
    }
    return value;
  };

  const { TOCSIN_NAMESPACE: namespace } = readConfig({ TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE }, env);
  const keys = await secret('TOCSIN_SECRET_KEYS', generateSecretKeys);
  parseSecretKeys(keys);
  const superuser = await password('POSTGRES_PASSWORD');
  const broker = await password('RABBITMQ_PASSWORD');
  const cache = await password('REDIS_PASSWORD');
  const databases: Record<string, string> = {};
  const brokerPasswords: Record<string, string> = {};
  for (const app of APP_NAMES) {
    const { schema, databaseVariable } = APPS[app];
    const variables = passwordVariables(app);
    const own = await password(variables.database);
    databases[databaseVariable] = `postgres://tocsin_${schema.name}:${own}@postgres:5432/tocsin`;
    brokerPasswords[brokerUser(namespace, app)] = await password(variables.broker);
  }

  const brokerUrl = (user: string, own = brokerPasswords[user] ?? '') => `amqp://${user}:${own}@rabbitmq:5672`;
  const REDIS_URL = `redis://:${cache}@redis:6379`;
  const appSecrets = (app: AppName) => ({
    TOCSIN_SECRET_KEYS: deriveServiceKeys(keys, app),
    AMQP_URL: brokerUrl(brokerUser(namespace, app)),
    [APPS[app].databaseVariable]: databases[APPS[app].databaseVariable] ?? '',
    ...(APPS[app].usesRedis && { REDIS_URL }),
  });
  const administrator = { name: BROKER_ADMINISTRATOR, password: broker };
  const definitions = brokerDefinitions(namespace, brokerUsers(administrator, brokerPasswords));
  const files: Record<string, Record<string, string>> = {
    ...Object.fromEntries(APP_NAMES.map((app) => [app, appSecrets(app)])),
    migrate: { ...databases, DATABASE_URL: `postgres://postgres:${superuser}@postgres:5432/tocsin` },
    admin: {
      ...databases,
      AMQP_URL: brokerUrl(BROKER_ADMINISTRATOR, broker),
      REDIS_URL,
      TOCSIN_SECRET_KEYS: deriveServiceKeys(keys, 'admin'),
    },
    postgres: { password: superuser },
    // RabbitMQ imports the definitions whenever it starts.
    rabbitmq: {
      'tocsin.conf': 'log.console = true\nload_definitions = /run/tocsin/definitions.json',
      'definitions.json': JSON.stringify(definitions),
    },
    redis: { 'tocsin.conf': `requirepass ${cache}`, password: cache },
  };
  for (const [container, contents] of Object.entries(files)) {
    for (const [name, content] of Object.entries(contents)) {
      // The server's user differs from image to image; nobody outside the container sees the folder.
      await writeAtomically(path.join(folder, container, name), content, 0o444);
    }
  }
}

/** Returns the secret of an earlier run, or generates it. Two concurrent runs both return what the first one wrote. */
async function keptSecret(file: string, generate: () => string): Promise<string> {
  const existing = await find(file);
  if (existing !== undefined) return existing;
  await mkdir(path.dirname(file), { recursive: true });
  try {
    await writeFile(file, `${generate()}\n`, { mode: 0o400, flag: 'wx', flush: true });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const written = await find(file);
  if (written === undefined) throw new Error(`${file} has disappeared`);
  return written;
}

/** @throws Error when the file is empty: the value that it held is in use, and another one would not match */
async function find(file: string): Promise<string | undefined> {
  const text = await readFile(file, 'utf8').catch(ignoreMissing);
  if (text?.trim() === '') throw new Error(`${file} is empty: restore it, or remove it together with the data`);
  return text?.trim();
}

/** A reader sees the old content or the new one, never a part. */
async function writeAtomically(file: string, content: string, mode: number): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true });
  const draft = `${file}.${process.pid}.new`;
  await writeFile(draft, `${content}\n`, { mode, flush: true });
  await rename(draft, file);
}
