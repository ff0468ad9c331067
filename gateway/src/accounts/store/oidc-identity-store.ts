import type { Knex } from '@tocsin/postgres';
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

interface Row {
  user_id: number;
  issuer: string;
  subject: string;
}

const COLUMNS = ['user_id', 'issuer', 'subject'] as const;

export const oidcIdentityStore = (db: Knex) => ({
  /** Returns the identity of a user, and that of an account, which is of one user. */
  find: async (
    workspaceId: number,
    { userId, issuer, subject }: Omit<OidcIdentity, 'userId'> & { userId: number | undefined },
  ): Promise<OidcIdentity[]> => {
    const rows = await db('oidc_identities')
      .where({ workspace_id: workspaceId, issuer, subject })
      .modify((query) => void (userId !== undefined && query.orWhere({ user_id: userId })))
      .select<Row[]>(COLUMNS);
    return rows.map(fromRow);
  },

  insert: async ({ workspaceId, ...identity }: OidcIdentity & { workspaceId: number }, now: Instant): Promise<void> => {
    const { userId, issuer, subject } = identity;
    await db('oidc_identities').insert({
      user_id: userId,
      workspace_id: workspaceId,
      issuer,
      subject,
      created_at: now,
    });
  },

  /** Deletes those of a workspace, or of one of its users, and returns them. */
  remove: async (workspaceId: number, userId: number | undefined): Promise<OidcIdentity[]> => {
    const rows = await db('oidc_identities')
      .where({ workspace_id: workspaceId, ...(userId !== undefined && { user_id: userId }) })
      .delete()
      .returning<Row[]>(COLUMNS);
    return rows.map(fromRow);
  },
});

const fromRow = ({ user_id: userId, issuer, subject }: Row): OidcIdentity => ({ userId, issuer, subject });
