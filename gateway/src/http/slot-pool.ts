import type { FairShares } from '@tocsin/runtime';

/** Places for requests. Who finds none waits for a short time; the workspace with the fewest requests is served first. */
export interface SlotPool {
  /**
   * Returns the function that gives the slot back, or `undefined` if there was none in time, too many wait already, or
   * the client has gone. A slot that is free is taken without waiting.
   * @param client `close` ends the wait
   */
  enter(workspaceId: number, wait: number, client: Closeable): Release | undefined | Promise<Release | undefined>;
}

/** Calling it again has no effect. */
export type Release = () => void;

interface Closeable {
  readonly destroyed: boolean;
  once(event: 'close', listener: () => void): unknown;
  removeListener(event: 'close', listener: () => void): unknown;
}

interface Waiter {
  grant: (release: Release | undefined) => void;
}

/** @param options `maxWaiting` is for each workspace, and ten times that for all of them */
export function slotPool({ shares, maxWaiting }: { shares: FairShares; maxWaiting: number }): SlotPool {
  /** In the order in which the workspaces were served last. */
  const queues = new Map<number, Set<Waiter>>();
  let waiting = 0;

  const slotFor = (workspaceId: number): Release => {
    let released = false;
    return () => {
      if (released) return;
      released = true;
      shares.giveBack(workspaceId, 1);
      if (waiting > 0) serveWaiting();
    };
  };

  /** The waiting workspace with the fewest slots; of several the one that was not served for the longest time. */
  const next = (): number | undefined => {
    let best: number | undefined;
    for (const workspaceId of queues.keys()) {
      if (best === undefined || shares.heldBy(workspaceId) < shares.heldBy(best)) best = workspaceId;
    }
    return best;
  };

  const serveWaiting = () => {
    for (let workspaceId = next(); workspaceId !== undefined && shares.take(workspaceId, 1); workspaceId = next()) {
      const queue = queues.get(workspaceId);
      const [first] = queue ?? [];
      if (queue === undefined || first === undefined)
        throw new Error('a workspace without waiting requests has a queue');
      remove(workspaceId, first);
      if (queue.size > 0) {
        queues.delete(workspaceId);
        queues.set(workspaceId, queue);
      }
      first.grant(slotFor(workspaceId));
    }
  };

  const remove = (workspaceId: number, waiter: Waiter) => {
    const queue = queues.get(workspaceId);
    if (queue?.delete(waiter) !== true) return;
    waiting -= 1;
    if (queue.size === 0) queues.delete(workspaceId);
  };

  const queueUp = async (workspaceId: number, wait: number, client: Closeable): Promise<Release | undefined> => {
    const { promise, resolve } = Promise.withResolvers<Release | undefined>();
    const waiter: Waiter = { grant: resolve };
    const giveUp = () => {
      remove(workspaceId, waiter);
      resolve(undefined);
    };
    const queue = queues.get(workspaceId) ?? new Set();
    queues.set(workspaceId, queue.add(waiter));
    waiting += 1;
    const timer = setTimeout(giveUp, wait);
    client.once('close', giveUp);
    try {
      return await promise;
    } finally {
      clearTimeout(timer);
      client.removeListener('close', giveUp);
    }
  };

  return {
    enter: (workspaceId, wait, client) => {
      const queued = queues.get(workspaceId)?.size ?? 0;
      // Not past those of the same workspace that wait already.
      if (queued === 0 && shares.take(workspaceId, 1)) return slotFor(workspaceId);
      const isFull = queued >= maxWaiting || waiting >= 10 * maxWaiting;
      return isFull || client.destroyed ? undefined : queueUp(workspaceId, wait, client);
    },
  };
}
