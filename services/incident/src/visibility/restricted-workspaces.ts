import { boundedCache } from '@tocsin/runtime';

/** Milliseconds: for so long, teams do not see the first restricted incident of their workspace. */
const TTL = 2_000;
const CACHE_BYTES = 4 * 1_048_576;
/** Workspaces that one statement looks up. */
const MAX_TOGETHER = 1_000;

/**
 * Returns whether a workspace has restricted incidents. Most have none, and are looked up again after two seconds, all
 * that had requests in the meantime together: one by one, each would cost as much as a request.
 * @param find returns those of the workspaces that have restricted incidents
 */
export function restrictedWorkspaces(
  find: (workspaceIds: readonly number[]) => Promise<readonly number[]>,
): (workspaceId: number) => boolean | Promise<boolean> {
  // A workspace that had one costs its requests a look at the catalog, and is not looked up again.
  const withRestricted = boundedCache<number, number>({ bytes: CACHE_BYTES });
  const without = boundedCache<number, number>({ bytes: CACHE_BYTES, ttl: TTL });
  let used = new Set<number>();
  const running = new Map<number, Promise<void>>();

  const lookUp = async (ids: readonly number[]): Promise<void> => {
    const start = performance.now();
    try {
      const those = new Set(await find(ids));
      for (const id of ids) {
        if (those.has(id)) withRestricted.set(id, 1);
        else without.set(id, 1, { start });
      }
    } finally {
      for (const id of ids) running.delete(id);
    }
  };
  const lookUpWithOthers = async (workspaceId: number): Promise<void> => {
    const ids = [...used.add(workspaceId)].filter((id) => !running.has(id));
    used = new Set();
    const looked = lookUp(ids);
    for (const id of ids) running.set(id, looked);
    return looked;
  };

  return (workspaceId) => {
    if (withRestricted.has(workspaceId)) return true;
    if (without.has(workspaceId)) {
      if (used.size < MAX_TOGETHER) used.add(workspaceId);
      return false;
    }
    return (running.get(workspaceId) ?? lookUpWithOthers(workspaceId)).then(() => withRestricted.has(workspaceId));
  };
}
