import type { Knex } from 'knex';

/** Something an app leans on. Only a `vital` one that is down makes the app unready. */
export interface Dependency {
  name: string;
  vital: boolean;
  /** Rejects, or answers false, when the dependency is down. */
  check(): Promise<boolean>;
}

export interface Readiness {
  ready: boolean;
  dependencies: Record<string, 'up' | 'down'>;
}

const CHECK_TIMEOUT = 2_000;

/** Asks every dependency at once, each for two seconds at most. */
export async function readiness(dependencies: readonly Dependency[]): Promise<Readiness> {
  const states = await Promise.all(dependencies.map(isUp));
  return {
    ready: dependencies.every(({ vital }, index) => !vital || states[index] === true),
    dependencies: Object.fromEntries(
      dependencies.map(({ name }, index) => [name, states[index] === true ? 'up' : 'down']),
    ),
  };
}

export function databaseDependency(database: Knex): Dependency {
  return { name: 'database', vital: true, check: async () => database.raw('select 1').then(() => true) };
}

async function isUp(dependency: Dependency): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), CHECK_TIMEOUT);
  try {
    return await Promise.race([dependency.check(), late]);
  } catch {
    return false;
  } finally {
    clearTimeout(timer);
  }
}
