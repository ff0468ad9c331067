/** Milliseconds after which work is looked for that another process has left; one that starts again looks at once. */
const REST = 600_000;

/** A periodic task with nothing to do until it is told: it asks no server in vain. */
export interface DueWork {
  /** Makes the next run do the work. */
  due(): void;
  /** Does the work if it is due, or has rested for ten minutes. Returns whether there may be more. */
  run(): Promise<boolean>;
}

/** @param work returns whether there may be more at once; it is due again after it has thrown, or has called `due` */
export function dueWork(work: () => Promise<boolean>): DueWork {
  let isDue = true;
  let restedSince = 0;
  return {
    due: () => void (isDue = true),
    async run() {
      if (!isDue && performance.now() - restedSince < REST) return false;
      isDue = false;
      restedSince = performance.now();
      const hasMore = await work().catch((error: unknown) => {
        isDue = true;
        throw error;
      });
      isDue ||= hasMore;
      return hasMore;
    },
  };
}
