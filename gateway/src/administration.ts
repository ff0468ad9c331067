import { invalidState } from '@tocsin/http';
import { type Knex, openDatabase } from '@tocsin/postgres';
import {
  type Clock,
  createLogger,
  type Environment,
  processSettings,
  readConfig,
  redisSettings,
  systemClock,
} from '@tocsin/runtime';
import { gatewayDatabase } from './config.ts';
import { checkScopes } from './accounts/domain/checks.ts';
import { sendIdentityNotice } from './identity/clients/identity-notices.ts';
import { digestOf } from './identity/domain/token.ts';
import type { Role, Seat } from './identity/domain/roles.ts';
import { schema } from './schema.ts';
import { type KeyFilter, keyLists, keyStore, type OwnedKey } from './accounts/store/key-store.ts';
import { oidcProviderStore } from './sign-in/store/oidc-provider-store.ts';
import { type UserProperties, userLists } from './accounts/store/user-store.ts';
import { workspaceStore } from './accounts/store/workspace-store.ts';
import type { CommandContext } from './accounts/actor.ts';
import { connectOidc, disconnectOidc, forgetOidcIdentities } from './sign-in/connect-oidc.ts';
import { createLoginLink } from './sign-in/login-links.ts';
import { createKey, type KeyRotation, type NewKey, revokeKey, rotateKey } from './accounts/keys.ts';
import { eraseUser } from './erasure/erase-user.ts';
import { beginWorkspaceDeletion, endWorkspaceDeletion } from './accounts/delete-workspace.ts';
import { existing, getUser, getWorkspace, getWorkspaceById } from './accounts/lookups.ts';
import { createUser, setUser } from './accounts/users.ts';
import { createWorkspace, republishUsers, setWorkspace } from './accounts/workspaces.ts';

export type { GroupMapping, GroupRole } from './sign-in/domain/group-mapping.ts';
export { ROLES, type Role, type Seat, SEATS } from './identity/domain/roles.ts';
export type { ApiKey, KeyFilter, OwnedKey } from './accounts/store/key-store.ts';
export type { User } from './accounts/store/user-store.ts';
export { countUnopenedSecrets } from './sign-in/oidc-secrets.ts';
export type { Workspace } from './accounts/store/workspace-store.ts';

/** Opens a connection as the gateway's role, for one command. */
export const openGatewayDatabase = (env: Environment): Knex =>
  openDatabase({ ...gatewayDatabase(env), poolSize: 1, schema: schema.name, application: 'tocsin-admin' });

/** Tells running gateways of a change, where they cannot listen to the database. */
export async function tellGateways(env: Environment): Promise<void> {
  if (!gatewayDatabase(env).sharesSessions) return;
  const { TOCSIN_NAMESPACE } = processSettings;
  const { REDIS_URL: redisUrl, TOCSIN_NAMESPACE: namespace } = readConfig({ ...redisSettings, TOCSIN_NAMESPACE }, env);
  await sendIdentityNotice({ redisUrl, namespace, log: createLogger({ app: 'admin', level: 'silent' }) });
}

/** Whether the database has data that only the configured secret keys decrypt. */
export const holdsSecrets = async (database: Knex): Promise<boolean> => oidcProviderStore(database).hasAny();

type SettableByOperators = Partial<Omit<UserProperties, 'email'>> & { newEmail?: string };

export type Administration = ReturnType<typeof administration>;

/** A user, named as an operator names one. */
interface NamedUser {
  /** The workspace's slug. */
  workspace: string;
  email: string;
}

/**
 * The administration of workspaces, users and keys by an operator (contract: Administration). Each change is a
 * transaction of its own; running gateways are notified when it commits.
 */
export function administration(database: Knex, clock: Clock = systemClock) {
  const change =
    <Input, Output>(usecase: (trx: Knex.Transaction, input: Input, now: string) => Promise<Output>) =>
    async (input: Input): Promise<Output> =>
      database.transaction(async (trx) => usecase(trx, input, clock.now()));
  return {
    getWorkspace: async (slug: string) => getWorkspace(database, slug),
    getWorkspaceById: async (id: number) => getWorkspaceById(database, id),
    listWorkspaces: async () => workspaceStore(database).list(),
    hasWorkspaces: async () => workspaceStore(database).hasAny(),
    getUser: async (slug: string, email: string) => getUser(database, await getWorkspace(database, slug), email),
    /** @throws DomainError `not_found` for an unknown workspace */
    listUsers: async (workspace: string | undefined) => {
      if (workspace !== undefined) await getWorkspace(database, workspace);
      return userLists(database).list(workspace);
    },
    getKey: async (id: number) => getKey(database, id),
    findKeyByToken: async (slug: string, token: string): Promise<OwnedKey | undefined> =>
      keyStore(database).findByDigest(slug, digestOf(token)),
    /** @throws DomainError `not_found` for an unknown workspace, or a user that it does not have */
    listKeys: async (filter: KeyFilter) => {
      const workspace = filter.workspace === undefined ? undefined : await getWorkspace(database, filter.workspace);
      if (workspace !== undefined && filter.user !== undefined) await getUser(database, workspace, filter.user);
      return keyLists(database).list(filter);
    },
    /** See `republishUsers`. */
    republishUsers: change(async (trx, options: { workspaceId: number; seen: number }, now) =>
      republishUsers(trx, { ...options, now }),
    ),
    createWorkspace: change(createWorkspace),
    setWorkspace: change(setWorkspace),
    beginWorkspaceDeletion: change(beginWorkspaceDeletion),
    endWorkspaceDeletion: change(endWorkspaceDeletion),
    createUser: change(
      async (
        trx,
        { workspace, ...input }: NamedUser & { name: string; role?: Role | undefined; seat?: Seat | undefined },
        now,
      ) => createUser(trx, { ...input, workspaceId: (await getWorkspace(trx, workspace)).id }, by(now)),
    ),
    setUser: change(async (trx, { workspace, email, ...named }: NamedUser & SettableByOperators, now) => {
      const { newEmail, ...properties } = named;
      const changes = { ...properties, email: newEmail };
      const { workspaceId, id } = await getUser(trx, await getWorkspace(trx, workspace), email);
      return setUser(trx, { workspaceId, id, changes }, by(now));
    }),
    /** @throws DomainError `invalid_resource_state` for a deactivated user */
    createKey: change(
      async (
        trx,
        { workspace, user, ...key }: { workspace: string; user: string } & Omit<NewKey, 'workspaceId' | 'userId'>,
        now,
      ) => {
        checkScopes(key.scopes);
        const { workspaceId, id: userId, email, active } = await getUser(trx, await getWorkspace(trx, workspace), user);
        if (!active) throw invalidState(`The user ${email} is deactivated`);
        return createKey(trx, { ...key, workspaceId, userId }, by(now));
      },
    ),
    /** See `eraseUser`; the running gateways go on with it within seconds. */
    eraseUser: change(async (trx, { workspace, email, confirmation }: NamedUser & { confirmation: string }, now) => {
      const user = await getUser(trx, await getWorkspace(trx, workspace), email);
      return eraseUser(trx, { ...user, confirmation }, by(now));
    }),
    createLoginLink: change(createLoginLink),
    connectOidc: change(connectOidc),
    /** @param slug of the workspace */
    disconnectOidc: change(disconnectOidc),
    forgetOidcIdentities: change(forgetOidcIdentities),
    revokeKey: change(async (trx, id: number, now) => {
      const { workspaceId } = await getKey(trx, id);
      return revokeKey(trx, { workspaceId, id }, by(now));
    }),
    rotateKey: change(async (trx, rotation: Omit<KeyRotation, 'workspaceId'>, now) => {
      const { workspaceId } = await getKey(trx, rotation.id);
      const { key, token, replaced } = await rotateKey(trx, { ...rotation, workspaceId }, by(now));
      return { key: await getKey(trx, key.id), token, replaced: await getKey(trx, replaced.id) };
    }),
  };
}

const getKey = async (database: Knex, id: number): Promise<OwnedKey> =>
  existing(keyStore(database).findInAll(id), `The key ${id}`);

const by = (now: string): CommandContext => ({ actor: { type: 'operator' }, requestId: null, now });
