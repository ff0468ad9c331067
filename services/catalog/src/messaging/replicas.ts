import type { EventHandlers } from '@tocsin/messaging';
import { userStore } from '../store/user-store.ts';

/** Keeps the users' replica close behind the gateway, so that a request seldom has to ask. */
export const replicaHandlers: EventHandlers = {
  'user.changed': async ({ workspace, data }, trx) => {
    const store = userStore(trx, workspace.id);
    // The version before the user, in the order of a pull: the two must not wait for each other.
    await store.advanceByOne(data.version);
    await store.put(data.version, [data.user]);
  },
};
