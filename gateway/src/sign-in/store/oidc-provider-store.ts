import { type Knex, query } from '@tocsin/postgres';
import type { Instant, Sealed } from '@tocsin/runtime';
import type { SealedPage } from '@tocsin/service-host';
import type { GroupMapping } from '../domain/group-mapping.ts';

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
  /** Null: roles and seats are given in Tocsin. */
  groups: GroupMapping | null;
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
  groups: GroupMapping | null;
  updated_at: Instant;
}

const SELECT = `select workspace_id, issuer, client_id, key_id, secret_ciphertext, creates_viewers, trusts_email, groups,
    updated_at
  from oidc_providers`;

export const oidcProviderStore = (db: Knex) => ({
  find: async (workspaceId: number): Promise<OidcProvider | undefined> => {
    const [row] = await query<Row>(db, {
      name: 'find-oidc-provider',
      text: `${SELECT} where workspace_id = $1`,
      values: [workspaceId],
    });
    return row && fromRow(row);
  },

  hasAny: async (): Promise<boolean> =>
    (await query(db, { text: 'select workspace_id from oidc_providers limit 1' })).length > 0,

  /** Those of the workspaces with the highest IDs. */
  listLatest: async (limit: number): Promise<OidcProvider[]> => {
    const rows = await query<Row>(db, { text: `${SELECT} order by workspace_id desc limit $1`, values: [limit] });
    return rows.map(fromRow);
  },

  /** Replaces an existing one of the workspace. */
  put: async (provider: OidcProvider): Promise<void> => {
    await query(db, {
      text: `insert into oidc_providers (workspace_id, issuer, client_id, key_id, secret_ciphertext, creates_viewers,
          trusts_email, groups, updated_at)
        values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
        on conflict (workspace_id) do update set issuer = excluded.issuer, client_id = excluded.client_id,
          key_id = excluded.key_id, secret_ciphertext = excluded.secret_ciphertext,
          creates_viewers = excluded.creates_viewers, trusts_email = excluded.trusts_email, groups = excluded.groups,
          updated_at = excluded.updated_at`,
      values: [
        provider.workspaceId,
        provider.issuer,
        provider.clientId,
        provider.secret.keyId,
        provider.secret.ciphertext,
        provider.createsViewers,
        provider.trustsEmail,
        provider.groups && JSON.stringify(provider.groups),
        provider.updatedAt,
      ],
    });
  },

  remove: async (workspaceId: number): Promise<void> => {
    await query(db, { text: 'delete from oidc_providers where workspace_id = $1', values: [workspaceId] });
  },

  /** Lists and locks those behind a workspace whose secret another key than this one has encrypted; skips locked rows. */
  listEncryptedWithOtherKeys: async (keyId: string, { after, limit }: SealedPage): Promise<OidcProvider[]> => {
    const rows = await query<Row>(db, {
      // Two ranges of an index; an inequality would read the whole table.
      text: `${SELECT} where (key_id < $1 or key_id > $1) and workspace_id > $2
        order by workspace_id limit $3 for update skip locked`,
      values: [keyId, after, limit],
    });
    return rows.map(fromRow);
  },

  replaceSecret: async (workspaceId: number, { keyId, ciphertext }: Sealed): Promise<void> => {
    await query(db, {
      text: 'update oidc_providers set key_id = $2, secret_ciphertext = $3 where workspace_id = $1',
      values: [workspaceId, keyId, ciphertext],
    });
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
