import type { EventHandlers } from '@tocsin/messaging';
import { replicaStore } from '../store/replica-store.ts';

/**
 * Updates the replicas by events, so that requests rarely call the owners. It writes the version before the row, in the same
 * order as a pull, to avoid deadlocks.
 */
export const replicaHandlers: EventHandlers = {
  'user.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('users', data.version);
    await store.putUsers([{ version: data.version, row: data.user }]);
  },
  'team.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('catalog', data.version);
    await store.putTeams([{ version: data.version, row: data.team }]);
  },
  'service.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('catalog', data.version);
    await store.putServices([{ version: data.version, row: data.service }]);
  },
  'custom-field.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('custom_field', data.version);
    await store.putFields([{ version: data.version, row: data.field }]);
  },
  'workspace.changed': async ({ workspace, data }, trx) => {
    // The event changes no user, but the users' replica uses the workspace's version.
    await replicaStore(trx, workspace.id).advanceByOne('users', data.version);
  },
};
