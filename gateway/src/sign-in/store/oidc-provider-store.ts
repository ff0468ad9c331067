import type { Knex } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { GroupRoles } from '../domain/group-roles.ts';

/** The OpenID Connect provider that signs the people of a workspace in. */
export interface OidcProvider {
  workspaceId: number;
  /** An https URL. */
  issuer: string;
  clientId: string;
  secret: Sealed;
  /** Whether people without a user become viewers. */
  createsViewers: boolean;
  /** Whether an address counts as verified if the provider says nothing about it. */
  trustsEmail: boolean;
  /** Null: roles are given in Tocsin. */
  groups: GroupRoles | null;
  updatedAt: Instant;
}

interface Row {
  workspace_id: number;
  issuer: string;
  client_id: string;
  key_id: string;
  secret_ciphertext: Buffer;
  creates_viewers: boolean;
  trusts_email: boolean;
  groups: GroupRoles | null;
  updated_at: Instant;
}

const COLUMNS = [
  'workspace_id',
  'issuer',
  'client_id',
  'key_id',
  'secret_ciphertext',
  'creates_viewers',
  'trusts_email',
  'groups',
  'updated_at',
] as const;

export const oidcProviderStore = (db: Knex) => ({
  find: async (workspaceId: number): Promise<OidcProvider | undefined> => {
    const row = await db('oidc_providers').where({ workspace_id: workspaceId }).first<Row | undefined>(COLUMNS);
    return row && fromRow(row);
  },

  hasAny: async (): Promise<boolean> => (await db('oidc_providers').first('workspace_id')) !== undefined,

  /** Those of the workspaces with the highest IDs. */
  listLatest: async (limit: number): Promise<OidcProvider[]> => {
    const rows = await db('oidc_providers').orderBy('workspace_id', 'desc').limit(limit).select<Row[]>(COLUMNS);
    return rows.map(fromRow);
  },

  /** Replaces an existing one of the workspace. */
  put: async (provider: OidcProvider): Promise<void> => {
    await db('oidc_providers')
      .insert({
        workspace_id: provider.workspaceId,
        issuer: provider.issuer,
        client_id: provider.clientId,
        key_id: provider.secret.keyId,
        secret_ciphertext: provider.secret.ciphertext,
        creates_viewers: provider.createsViewers,
        trusts_email: provider.trustsEmail,
        groups: provider.groups && JSON.stringify(provider.groups),
        updated_at: provider.updatedAt,
      })
      .onConflict('workspace_id')
      .merge();
  },

  remove: async (workspaceId: number): Promise<void> => {
    await db('oidc_providers').where({ workspace_id: workspaceId }).delete();
  },

  /** Locks those whose secret is encrypted with another key than this one; skips locked rows. */
  listEncryptedWithOtherKeys: async (keyId: string): Promise<OidcProvider[]> => {
    const rows = await db('oidc_providers')
      // Two ranges of an index; an inequality would read the whole table.
      .where((others) => void others.where('key_id', '<', keyId).orWhere('key_id', '>', keyId))
      .forUpdate()
      .skipLocked()
      .select<Row[]>(COLUMNS);
    return rows.map(fromRow);
  },

  replaceSecret: async (workspaceId: number, { keyId, ciphertext }: Sealed): Promise<void> => {
    await db('oidc_providers')
      .where({ workspace_id: workspaceId })
      .update({ key_id: keyId, secret_ciphertext: ciphertext });
  },
});

const fromRow = (row: Row): OidcProvider => ({
  workspaceId: row.workspace_id,
  issuer: row.issuer,
  clientId: row.client_id,
  secret: { keyId: row.key_id, ciphertext: row.secret_ciphertext },
  createsViewers: row.creates_viewers,
  trustsEmail: row.trusts_email,
  groups: row.groups,
  updatedAt: row.updated_at,
});
