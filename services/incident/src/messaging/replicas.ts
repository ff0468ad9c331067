import type { EventHandlers } from '@tocsin/messaging';
import { replicaStore } from '../store/replica-store.ts';

/**
 * Keeps the replicas close behind their owners, so that a request seldom has to ask. The version comes before the row, in
 * the order of a pull: the two must not wait for each other.
 */
export const replicaHandlers: EventHandlers = {
  'user.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('users', data.version);
    await store.putUsers(data.version, [data.user]);
  },
  'team.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('catalog', data.version);
    await store.putTeams(data.version, [data.team]);
  },
  'service.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('catalog', data.version);
    await store.putServices(data.version, [data.service]);
  },
  'custom-field.changed': async ({ workspace, data }, trx) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne('custom_field', data.version);
    await store.putFields(data.version, [data.field]);
  },
  'workspace.changed': async ({ workspace, data }, trx) => {
    // It changes no user, and the users' replica counts by the same version.
    await replicaStore(trx, workspace.id).advanceByOne('users', data.version);
  },
};
