import { withTimeout } from './with-timeout.ts';

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

/** Runs all checks concurrently, each for at most `timeout` milliseconds, two seconds by default. */
export async function readiness(checks: readonly ReadinessCheck[], timeout = CHECK_TIMEOUT): Promise<Readiness> {
  const states = await Promise.all(checks.map(async (check) => isUp(check, timeout)));
  return {
    ready: checks.every(({ required }, index) => !required || states[index] === true),
    dependencies: Object.fromEntries(checks.map(({ name }, index) => [name, states[index] === true ? 'up' : 'down'])),
  };
}

async function isUp(readinessCheck: ReadinessCheck, timeout: number): Promise<boolean> {
  try {
    return await withTimeout(readinessCheck.check(), timeout, () => false);
  } catch {
    return false;
  }
}
