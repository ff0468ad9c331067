import { roleOf, urlForRole } from '@tocsin/postgres';
import type { Environment } from '@tocsin/runtime';
import { APP_NAMES, APPS } from '../../installation/apps.ts';

/**
 * The settings that name a database for each app, as the roles that all test runs share: roles with the namespace of a
 * run would stay on the server.
 */
export const sharedRoles = (databaseUrl: string): Environment =>
  Object.fromEntries(
    APP_NAMES.map((app) => [
      APPS[app].databaseVariable,
      urlForRole(databaseUrl, roleOf('tocsin', APPS[app].schema.name)),
    ]),
  );
