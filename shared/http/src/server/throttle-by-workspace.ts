import { FairQueue, type LeaseHolder } from '@tocsin/runtime';

/** Milliseconds: no pause between two pages is longer. */
const MAX_PAUSE = 500;

const queue = new FairQueue<LeaseHolder>({ holder: 1 });

/**
 * Runs `work` when it is its workspace's turn: one page with large rows or many things to count, or one large body, at a
 * time, and after it a pause as long as that took. They take much time and memory to read and to serialise; so those of one
 * workspace take at most half of the process's time, however many it asks for. The gateway limits how many wait.
 */
export async function throttleByWorkspace<Result>(holder: LeaseHolder, work: () => Promise<Result>): Promise<Result> {
  const lease = await queue.take(holder);
  const start = performance.now();
  try {
    return await work();
  } finally {
    setTimeout(() => lease.release(), Math.min(performance.now() - start, MAX_PAUSE));
  }
}
