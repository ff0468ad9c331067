import { type Clock, type Environment, type Knex, openDatabase, systemClock } from '@tocsin/runtime';
import { gatewayDatabase } from './config.ts';
import { schema } from './schema.ts';
import { createKey } from './usecases/create-key.ts';
import { createUser } from './usecases/create-user.ts';
import { createWorkspace } from './usecases/create-workspace.ts';
import { getWorkspace } from './usecases/lookups.ts';
import { revokeKey } from './usecases/revoke-key.ts';
import { setUser } from './usecases/set-user.ts';
import { setWorkspace } from './usecases/set-workspace.ts';

export { ROLES, type Role, type Seat, SEATS } from './domain/roles.ts';
export type { ApiKey } from './store/key-store.ts';
export type { User } from './store/user-store.ts';
export type { Workspace } from './store/workspace-store.ts';

/** Opens a connection as the gateway's role, for one command. */
export const openGatewayDatabase = (env: Environment): Knex =>
  openDatabase({ ...gatewayDatabase(env), poolSize: 1, schema: schema.name, application: 'tocsin-admin' });

export type Administration = ReturnType<typeof administration>;

/**
 * The administration of workspaces, users and keys (contract: Administration). Each change is a transaction of its own;
 * running gateways are notified when it commits.
 */
export function administration(database: Knex, clock: Clock = systemClock) {
  const change =
    <Input, Output>(usecase: (trx: Knex.Transaction, input: Input, now: string) => Promise<Output>) =>
    async (input: Input): Promise<Output> =>
      database.transaction(async (trx) => usecase(trx, input, clock.now()));
  return {
    getWorkspace: async (slug: string) => getWorkspace(database, slug),
    createWorkspace: change(createWorkspace),
    setWorkspace: change(setWorkspace),
    createUser: change(createUser),
    setUser: change(setUser),
    createKey: change(createKey),
    revokeKey: change(revokeKey),
  };
}
