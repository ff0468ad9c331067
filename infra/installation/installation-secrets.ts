import {
  changeUrl,
  type Environment,
  generateSecretKeys,
  parseSecretKeys,
  processSettings,
  readConfig,
  urlsOfHosts,
} from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS, passwordVariables } from './apps.ts';
import { brokerDefinitions, brokerUser, brokerUsers } from './broker-definitions.ts';
import type { KeptSecrets } from './kept-secrets.ts';
import { deriveServiceKeys } from './service-keys.ts';

/** The servers of an installation, with their administrators. */
interface Servers {
  DATABASE_URL: string;
  AMQP_URL: string;
  REDIS_URL: string;
}

/** What the apps and the administration of an installation get: each its own keys, role and user, and no others. */
export async function installationSecrets(secrets: KeptSecrets, env: Environment, servers: Servers) {
  const { TOCSIN_NAMESPACE: namespace } = readConfig({ TOCSIN_NAMESPACE: processSettings.TOCSIN_NAMESPACE }, env);
  const keys = await secrets.secret('TOCSIN_SECRET_KEYS', generateSecretKeys);
  parseSecretKeys(keys);
  const { AMQP_URL, REDIS_URL } = servers;
  const databases: Record<string, string> = {};
  const brokerPasswords: Record<string, string> = {};
  const apps: Partial<Record<AppName, Record<string, string>>> = {};
  for (const app of APP_NAMES) {
    const { schema, databaseVariable, usesRedis } = APPS[app];
    const variables = passwordVariables(app);
    const databaseUrl = as(servers.DATABASE_URL, `tocsin_${schema.name}`, await secrets.password(variables.database));
    const user = brokerUser(namespace, app);
    const password = await secrets.password(variables.broker);
    databases[databaseVariable] = databaseUrl;
    brokerPasswords[user] = password;
    apps[app] = {
      TOCSIN_SECRET_KEYS: deriveServiceKeys(keys, app),
      AMQP_URL: as(AMQP_URL, user, password),
      [databaseVariable]: databaseUrl,
      ...(usesRedis && { REDIS_URL }),
    };
  }
  const { username, password } = new URL(urlsOfHosts(AMQP_URL)[0]);
  const administrator = { name: decodeURIComponent(username), password: decodeURIComponent(password) };
  return {
    apps: apps as Record<AppName, Record<string, string>>,
    databases,
    admin: { AMQP_URL, REDIS_URL, TOCSIN_SECRET_KEYS: deriveServiceKeys(keys, 'admin') },
    definitions: brokerDefinitions(namespace, brokerUsers(administrator, brokerPasswords)),
  };
}

/** The address of a server for another user. */
const as = (address: string, user: string, password: string): string =>
  changeUrl(address, (url) => Object.assign(url, { username: user, password }));

/** For a RabbitMQ that mounts them at /run/tocsin: it imports the definitions whenever it starts. */
export const brokerFiles = (definitions: object): Record<string, string> => ({
  'tocsin.conf': 'log.console = true\nload_definitions = /run/tocsin/definitions.json',
  'definitions.json': JSON.stringify(definitions),
});

/** For a Redis. */
export const cacheFiles = (password: string): Record<string, string> => ({ 'tocsin.conf': `requirepass ${password}` });
