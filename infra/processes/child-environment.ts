import { changeUrl, type Environment } from '@tocsin/runtime';
import { type AppName, APPS, readRecorded } from '../installation/apps.ts';
import { migrateConfig } from '../migrate/config.ts';
import { deriveServiceKeys } from '../installation/service-keys.ts';

/** What a process needs to know about the system that it runs on, and OpenTelemetry's settings. */
const SYSTEM_VARIABLES =
  /^(?:PATH|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|TMP|TEMP|NODE_(?:OPTIONS|EXTRA_CA_CERTS|V8_COVERAGE|COMPILE_CACHE)|SSL_CERT_(?:FILE|DIR)|OTEL_\w+)$/;

const withoutUser = (url: URL) => Object.assign(url, { username: '', password: '' });

/**
 * Returns the part of our environment that one app needs: the settings that it reads, the database URL of its own role,
 * and its own keys. Nothing else reaches the process: not the superuser's URL, and no setting of another app or
 * program.
 * @param env the app's environment with all settings, from `appEnvironments`
 * @throws ConfigError naming each setting of the app that is missing or malformed
 */
export function childEnvironment(app: AppName, env: Environment): Environment {
  const { databaseVariable, readConfig } = APPS[app];
  const database = migrateConfig(env).targets.find((target) => target.app === app);
  const settings: Environment = {
    ...env,
    DATABASE_URL: undefined,
    // Without a user: that there is one is all that an app has to know.
    DATABASE_SESSION_URL: database?.sessionUrl && changeUrl(database.sessionUrl, withoutUser),
    [databaseVariable]: database?.url,
    TOCSIN_SECRET_KEYS: deriveServiceKeys(env['TOCSIN_SECRET_KEYS'] ?? '', app),
  };
  const { names } = readRecorded(readConfig, settings);
  return Object.fromEntries(
    Object.entries(settings).filter(
      ([name, value]) => value !== undefined && (names.has(name) || SYSTEM_VARIABLES.test(name)),
    ),
  );
}
