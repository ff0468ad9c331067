import type { Scope, WorkspaceContext } from '@tocsin/http';
import { type Instant, type Knex, named } from '@tocsin/runtime';
import type { Role, Seat } from '../domain/roles.ts';

/** A key that is not revoked, of an active user, with all that a request in its name needs to know. */
export interface Identity {
  keyId: number;
  userId: number;
  scopes: Scope[];
  seat: Seat;
  role: Role;
  expiresAt: Instant | null;
  workspace: WorkspaceContext;
  /** Requests a minute; null is the installation's default. */
  rateLimit: number | null;
}

interface IdentityRow {
  key_id: number;
  user_id: number;
  scopes: Scope[];
  seat: Seat;
  role: Role;
  expires_at: Instant | null;
  workspace_id: number;
  slug: string;
  version: number;
  is_demo: boolean;
  history_days: string | null;
  reporting_currency: string;
  short_title_required: boolean;
  rate_limit: number | null;
}

const FIND_WORKSPACE = 'select id from workspaces where slug = $1';

const FIND_BY_DIGEST = `
  select k.id as key_id, k.user_id, k.scopes, u.seat, u.role, k.expires_at,
         w.id as workspace_id, w.slug, w.version, w.is_demo, w.history_days,
         w.reporting_currency, w.short_title_required, w.rate_limit
    from api_keys k
    join users u on u.id = k.user_id
    join workspaces w on w.id = u.workspace_id
   where k.token_digest = $1 and k.revoked_at is null and u.active`;

/** The two look-ups of the request path, as prepared statements. */
export function identityStore(database: Knex) {
  return {
    findWorkspaceId: async (slug: string): Promise<number | undefined> => {
      const [row] = await named<{ id: number }>(database, 'find-workspace', FIND_WORKSPACE, [slug]);
      return row?.id;
    },

    /** `digest` is the token's SHA-256, in hexadecimal. */
    findByDigest: async (digest: string): Promise<Identity | undefined> => {
      const [row] = await named<IdentityRow>(database, 'find-identity', FIND_BY_DIGEST, [Buffer.from(digest, 'hex')]);
      return row && fromRow(row);
    },
  };
}

export type IdentityStore = ReturnType<typeof identityStore>;

const fromRow = (row: IdentityRow): Identity => ({
  keyId: row.key_id,
  userId: row.user_id,
  scopes: row.scopes,
  seat: row.seat,
  role: row.role,
  expiresAt: row.expires_at,
  workspace: {
    id: row.workspace_id,
    slug: row.slug,
    version: row.version,
    is_demo: row.is_demo,
    history_days: row.history_days === null ? null : Number(row.history_days),
    reporting_currency: row.reporting_currency,
    short_title_required: row.short_title_required,
  },
  rateLimit: row.rate_limit,
});
