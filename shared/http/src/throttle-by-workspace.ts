import { setTimeout as delay } from 'node:timers/promises';
import type { ShareHolder } from '@tocsin/runtime';

/** Milliseconds: no pause between two pages is longer. */
const MAX_PAUSE = 500;

interface Turns {
  /** In the order of arrival; the gateway limits how many requests of a workspace are under way. */
  readonly waiting: (() => void)[];
}

/** The workspaces for which a page is being built, or which pause after one. */
const turnsOf = new Map<ShareHolder, Turns>();

/**
 * Runs `work` when it is its workspace's turn: one page with large rows or many things to count at a time, and after it a
 * pause as long as the page took. Large rows take much time and memory to read and to serialise; so the pages of one
 * workspace take at most half of the process's time, however many it asks for.
 */
export async function throttleByWorkspace<Result>(holder: ShareHolder, work: () => Promise<Result>): Promise<Result> {
  const turns = turnsOf.get(holder);
  if (turns === undefined) turnsOf.set(holder, { waiting: [] });
  else {
    const { promise, resolve } = Promise.withResolvers<void>();
    turns.waiting.push(resolve);
    await promise;
  }
  const start = performance.now();
  try {
    return await work();
  } finally {
    void endTurn(holder, performance.now() - start);
  }
}

async function endTurn(holder: ShareHolder, duration: number): Promise<void> {
  await delay(Math.min(duration, MAX_PAUSE));
  const next = turnsOf.get(holder)?.waiting.shift();
  if (next === undefined) turnsOf.delete(holder);
  else next();
}
