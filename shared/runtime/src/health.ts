import type { Knex } from 'knex';
import { settleWithin } from './settle-within.ts';

/** Checks a dependency of an app. The app is unready only while a `required` one is down. */
export interface ReadinessCheck {
  name: string;
  required: boolean;
  /** Rejects or returns false if the dependency is down. */
  check(): Promise<boolean>;
}

export interface Readiness {
  ready: boolean;
  dependencies: Record<string, 'up' | 'down'>;
}

const CHECK_TIMEOUT = 2_000;

/** Runs all checks concurrently, each for at most two seconds. */
export async function readiness(checks: readonly ReadinessCheck[]): Promise<Readiness> {
  const states = await Promise.all(checks.map(isUp));
  return {
    ready: checks.every(({ required }, index) => !required || states[index] === true),
    dependencies: Object.fromEntries(checks.map(({ name }, index) => [name, states[index] === true ? 'up' : 'down'])),
  };
}

export function databaseReadiness(database: Knex): ReadinessCheck {
  return { name: 'database', required: true, check: async () => database.raw('select 1').then(() => true) };
}

async function isUp(readinessCheck: ReadinessCheck): Promise<boolean> {
  try {
    return await settleWithin(readinessCheck.check(), CHECK_TIMEOUT, () => false);
  } catch {
    return false;
  }
}
