import type { EventHandlers } from '@tocsin/messaging';
import type { Knex } from '@tocsin/postgres';
import { type Replicated, type ReplicaOwner, replicaStore } from '../store/replica-store.ts';

/** Writes the version before the row, in the same order as a pull, to avoid deadlocks. */
const put =
  <Kind extends keyof Replicated>(owner: ReplicaOwner, kind: Kind) =>
  async (
    { workspace, data }: { workspace: { id: number }; data: { version: number } & Record<Kind, Replicated[Kind]> },
    trx: Knex.Transaction,
  ) => {
    const store = replicaStore(trx, workspace.id);
    await store.advanceByOne(owner, data.version);
    const rows: Record<Kind, Replicated[Kind]> = data;
    await store.put(kind, [{ version: data.version, row: rows[kind] }]);
  };

/** Updates the replicas by events, so that requests rarely call the owners. */
export const replicaHandlers: EventHandlers = {
  'user.changed': put('users', 'user'),
  'team.changed': put('catalog', 'team'),
  'service.changed': put('catalog', 'service'),
  'custom-field.changed': put('custom_field', 'field'),
  'workspace.changed': async ({ workspace, data }, trx) => {
    // The event changes no user, but the users' replica uses the workspace's version.
    await replicaStore(trx, workspace.id).advanceByOne('users', data.version);
  },
};
