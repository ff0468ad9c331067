import type { ShareHolder } from '@tocsin/runtime';

/** How many pages with large rows are built for one workspace at the same time. */
const AT_ONCE = 2;

interface Turns {
  running: number;
  /** In the order of arrival; the gateway limits how many requests of a workspace are under way. */
  readonly waiting: (() => void)[];
}

const turnsOf = new Map<ShareHolder, Turns>();

/**
 * Runs `work` when it is its workspace's turn. Large rows take much time and memory to read and to serialise, and
 * requests of other workspaces must be served meanwhile.
 */
export async function inTurn<Result>(holder: ShareHolder, work: () => Promise<Result>): Promise<Result> {
  const turns = turnsOf.get(holder) ?? { running: 0, waiting: [] };
  turnsOf.set(holder, turns);
  if (turns.running === AT_ONCE) {
    const { promise, resolve } = Promise.withResolvers<void>();
    turns.waiting.push(resolve);
    await promise;
  } else turns.running += 1;
  try {
    return await work();
  } finally {
    const next = turns.waiting.shift();
    if (next !== undefined) next();
    else {
      turns.running -= 1;
      if (turns.running === 0) turnsOf.delete(holder);
    }
  }
}
