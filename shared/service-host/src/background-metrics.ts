import { Gauge, type Metrics, type ReadinessCheck, readiness } from '@tocsin/runtime';
import type { PeriodicTaskSpec } from './spec.ts';

/** Shorter than the time for collecting a metric, so that a dependency that hangs is reported as down. */
const CHECK_TIMEOUT = 1_500;

/** Adds whether each dependency of the app works, as in its `/readyz`. */
export function observeDependencies(checks: readonly ReadinessCheck[], metrics: Metrics): void {
  new Gauge({
    name: 'tocsin_dependency_up',
    help: 'Whether the database, broker or Redis of this process takes what it writes',
    labelNames: ['dependency'],
    registers: [metrics],
    async collect() {
      const { dependencies } = await readiness(checks, CHECK_TIMEOUT);
      for (const [dependency, state] of Object.entries(dependencies)) this.set({ dependency }, state === 'up' ? 1 : 0);
    },
  });
}

/** Adds when each task last ended without an error. A task that has not run yet counts from the start of the process. */
export function observeTasks(tasks: readonly PeriodicTaskSpec[], metrics: Metrics): PeriodicTaskSpec[] {
  if (tasks.length === 0) return [];
  const succeeded = new Gauge({
    name: 'tocsin_task_last_success_timestamp_seconds',
    help: 'When a periodic task last succeeded in this process, or when the process started, as a Unix time',
    labelNames: ['task'],
    registers: [metrics],
  });
  return tasks.map((task) => {
    succeeded.setToCurrentTime({ task: task.name });
    return {
      ...task,
      work: async () => {
        const hasMore = await task.work();
        succeeded.setToCurrentTime({ task: task.name });
        return hasMore;
      },
    };
  });
}
