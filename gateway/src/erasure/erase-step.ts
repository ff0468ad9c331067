import type { Knex } from '@tocsin/postgres';
import type { Clock, Logger } from '@tocsin/runtime';
import { eventWorkspace } from '../accounts/announce.ts';
import { getWorkspaceById } from '../accounts/lookups.ts';
import { erasureStore } from '../accounts/store/erasure-store.ts';
import type { AppWithData, PersonalData } from './personal-data.ts';

interface EraseOptions {
  database: Knex;
  data: PersonalData;
  clock: Clock;
  log: Logger;
  /** Called if a service cannot take the step yet. */
  onWait: () => void;
}

/** Takes the next step of the erasure that was requested first. Returns whether there may be more to do at once. */
export const eraseUsers =
  ({ database, data, clock, log, onWait }: EraseOptions) =>
  async (): Promise<boolean> => {
    const store = erasureStore(database);
    const erasure = await store.next();
    const [app] = (erasure?.remaining ?? []) as readonly AppWithData[];
    if (erasure === undefined || app === undefined) return false;
    const { workspaceId, userId, names, emails, version, position, remaining } = erasure;
    const workspace = eventWorkspace(await getWorkspaceById(database, workspaceId));
    const request = { workspace, user_id: userId, names: [...names], emails: [...emails], version, position };
    const step = await data.erase(app, request).catch((error: unknown) => {
      log.warn({ err: error, service: app, workspace: workspaceId }, 'cannot erase a user now; retrying');
    });
    if (step?.isReady !== true) {
      onWait();
      return false;
    }
    const { next, places } = step;
    const left = next === null ? remaining.slice(1) : remaining;
    await store.advance(erasure, { remaining: left, position: next, places }, clock.now());
    return true;
  };
