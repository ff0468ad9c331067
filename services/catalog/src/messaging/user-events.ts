import type { EventHandlers } from '@tocsin/messaging';
import { userVersionStore } from '../store/user-store.ts';
import { applyUsers } from '../usecases/user-replica.ts';

/** Applies the gateway's user events to the replica of its users, so that few requests have to wait for a pull. */
export const userEventHandlers: EventHandlers = {
  'user.changed': async ({ workspace, data }, trx) => {
    // Locks the version's row before the user's row, in the order of a pull: the other order could deadlock with one.
    await userVersionStore(trx, workspace.id).raiseIfNext(data.version);
    await applyUsers(trx, workspace.id, [{ version: data.version, user: data.user }]);
  },
};
