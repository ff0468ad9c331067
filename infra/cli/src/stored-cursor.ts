import { createHash } from 'node:crypto';
import type { Tocsin } from '@tocsin/sdk';
import { readPrivate, stateFolder, writePrivately } from './contexts.ts';
import type { Call } from './session.ts';
import { untilEnded } from './tail.ts';

/**
 * Where a command is in the event feed: `cursor`, undefined before the first event, and what else it keeps between runs.
 * @param place what the command does with the events: each has a cursor of its own, in each workspace
 * @throws TocsinError if the API refuses the types
 */
export async function openCursor<Kept extends object>(
  tocsin: Tocsin,
  { session: { env, signal } }: Call,
  options: {
    command: string;
    place: readonly unknown[];
    flags: { types?: string; from: string; reset?: boolean };
    keep(stored: Partial<Kept>): Kept;
  },
) {
  const { command, place, keep } = options;
  const { types, from, reset = false } = options.flags;
  const folder = stateFolder(env);
  const { installation_id: installation, workspace } = await tocsin.me.get({ signal });
  const key = JSON.stringify([installation, workspace.id, ...place]);
  const file = `${command}-${createHash('sha256').update(key).digest('hex').slice(0, 16)}.json`;
  const stored = readPrivate(folder, file) as (Partial<Kept> & { cursor?: string }) | undefined;
  const kept = keep(stored ?? {});
  const store = (cursor: string | undefined) => writePrivately(folder, file, { cursor, ...kept });
  const { pagination } = await tocsin.events.list({ limit: 1, types: types?.split(',') }, { signal });
  const cursor = (reset ? undefined : stored?.cursor) ?? (from === 'now' ? pagination.next_cursor : undefined);
  store(cursor);
  return { cursor, kept, store };
}

/** Runs what follows the feed from a stored cursor, until Ctrl-C. Says how to go on if the feed no longer has its place. */
export const untilEndedOrExpired = async (call: Call, run: () => Promise<void>): Promise<void> =>
  untilEnded(call, run).catch((error: unknown) => {
    if ((error as { code?: unknown }).code !== 'cursor_expired') throw error;
    throw new Error(
      'the feed no longer has all events behind the stored cursor: go on with --reset from now, or with --reset --from beginning from the oldest event that it has',
      { cause: error },
    );
  });
