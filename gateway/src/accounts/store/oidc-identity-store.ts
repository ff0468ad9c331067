import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';

/** An account at an OpenID Connect provider: its subject never changes, and is never given to another person. */
export interface OidcAccount {
  issuer: string;
  subject: string;
}

/** The account by which a user signed in first. */
export interface OidcIdentity extends OidcAccount {
  userId: number;
}

const COLUMNS = 'user_id as "userId", issuer, subject';

export const oidcIdentityStore = (db: Knex) => ({
  /** Returns the identity of a user, if there is one, and that of an account, which is of one user. */
  find: async (
    workspaceId: number,
    { userId, issuer, subject }: Omit<OidcIdentity, 'userId'> & { userId: number | undefined },
  ): Promise<OidcIdentity[]> =>
    query<OidcIdentity>(db, {
      name: 'find-oidc-identities',
      text: `select ${COLUMNS} from oidc_identities
        where workspace_id = $1 and ((issuer = $2 and subject = $3) or user_id = $4)`,
      values: [workspaceId, issuer, subject, userId ?? null],
    }),

  insert: async (
    { workspaceId, userId, issuer, subject }: OidcIdentity & { workspaceId: number },
    now: Instant,
  ): Promise<void> => {
    await query(db, {
      name: 'insert-oidc-identity',
      text: `insert into oidc_identities (user_id, workspace_id, issuer, subject, created_at)
        values ($1, $2, $3, $4, $5)`,
      values: [userId, workspaceId, issuer, subject, now],
    });
  },

  /** Deletes those of a workspace, or of one of its users, and returns them. */
  remove: async (workspaceId: number, userId: number | undefined): Promise<OidcIdentity[]> =>
    query<OidcIdentity>(db, {
      text: `delete from oidc_identities where workspace_id = $1 and ($2::bigint is null or user_id = $2)
        returning ${COLUMNS}`,
      values: [workspaceId, userId ?? null],
    }),
});
