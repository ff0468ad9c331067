import type { EventHandlers } from '@tocsin/messaging';
import { userStore } from '../store/user-store.ts';

/** Applies the gateway's user events to the replica of its users, so that few requests have to wait for a pull. */
export const userEventHandlers: EventHandlers = {
  'user.changed': async ({ workspace, data }, trx) => {
    const store = userStore(trx, workspace.id);
    // Locks the version's row before the user's row, in the order of a pull: the other order could deadlock with one.
    await store.raiseVersionIfNext(data.version);
    await store.upsert([{ version: data.version, user: data.user }]);
  },
};
