/** Two leave most of a pool's connections to other requests (ADR 48). */
const CONCURRENT = 2;

/** Lets imports save their events by turns. */
export interface ImportTurns {
  /** Runs `save` when it is the workspace's turn. */
  run<Result>(workspaceId: number, save: () => Promise<Result>): Promise<Result>;
}

/**
 * At most two imports of a process save events at the same time, since each uses a connection for long. Workspaces that
 * wait are served in turns, one import each. How many wait is bounded by the documents that may be read at a time.
 */
export function importTurns(): ImportTurns {
  /** In the order in which the workspaces were served last. */
  const queues = new Map<number, (() => void)[]>();
  let running = 0;

  const serveNext = () => {
    const [next] = queues;
    if (next === undefined) return;
    const [workspaceId, [first, ...others]] = next;
    queues.delete(workspaceId);
    if (others.length > 0) queues.set(workspaceId, others);
    running += 1;
    first?.();
  };

  return {
    run: async (workspaceId, save) => {
      if (running < CONCURRENT) running += 1;
      else {
        const { promise, resolve } = Promise.withResolvers<void>();
        queues.set(workspaceId, [...(queues.get(workspaceId) ?? []), resolve]);
        await promise;
      }
      try {
        return await save();
      } finally {
        running -= 1;
        serveNext();
      }
    },
  };
}
