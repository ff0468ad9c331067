import path from 'node:path';
import { type Environment, generateSecretKeys } from '@tocsin/runtime';
import { ROOT } from '../environment.ts';

/** What a process makes of an environment, and the names that it looked for in it; `module` exports its reader. */
export async function readSettings(
  module: string,
  env: Environment,
): Promise<{ config: unknown; names: ReadonlySet<string> }> {
  const exports = (await import(path.join(ROOT, module))) as Record<string, (env: Environment) => unknown>;
  const read = Object.entries(exports).find(([name]) => name.endsWith('Config'))?.[1];
  if (read === undefined) throw new Error(`${module} exports no reader of settings`);
  const names = new Set<string>();
  const given: Environment = { ...env, TOCSIN_SECRET_KEYS: generateSecretKeys() };
  const config = read(
    new Proxy(given, {
      get: (target, name) => {
        names.add(String(name));
        return Reflect.get(target, name) as string | undefined;
      },
    }),
  );
  return { config, names };
}

/** The addresses among an app's settings that lead to the app's own machine: a default that nothing has overridden. */
export function addressesOfOwnMachine(config: unknown): string[] {
  return JSON.stringify(config).match(/\w+:\/\/(?:[^/"]*@)?(?:localhost|127\.0\.0\.1|\[::1\])[^"]*/g) ?? [];
}

/** The variable that holds the URL of an app's own database. */
export const databaseVariable = (app: string) => `${app.toUpperCase().replaceAll('-', '_')}_DATABASE_URL`;

/**
 * Settings that nobody needs to give: an app's own database URL comes before the general one, and receivers on loopback
 * are refused in production.
 */
export const NOT_NEEDED: ReadonlySet<string> = new Set(['DATABASE_URL', 'WEBHOOK_TEST_RECEIVERS']);
