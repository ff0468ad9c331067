import { generateSecretKeys } from '@tocsin/runtime';
import { APP_NAMES, type AppName, APPS, readRecorded } from '../installation/apps.ts';

/** Addresses and keys, so that no reader fails because one is missing. */
const REQUIRED = {
  ...Object.fromEntries(APP_NAMES.map((name) => [APPS[name].addressVariable, 'http://127.0.0.1:1'])),
  TOCSIN_SECRET_KEYS: generateSecretKeys(),
};

/** The settings that an app reads, in the order of its configuration. */
export const settingsOf = (app: AppName): readonly string[] => [...readRecorded(APPS[app].readConfig, REQUIRED).names];

/** The other apps whose addresses an app reads. */
export function calledBy(app: AppName): AppName[] {
  const settings = settingsOf(app);
  return APP_NAMES.filter((other) => other !== app && settings.includes(APPS[other].addressVariable));
}

/** The port that the other apps reach. */
export const internalPort = (app: AppName): number => (app === 'gateway' ? 8081 : 8080);

/** What a container runs, in YAML. */
export const startCommand = (app: AppName): string =>
  `[node, --import, '@tocsin/tracing', ${APPS[app].folder}/src/main.ts]`;
