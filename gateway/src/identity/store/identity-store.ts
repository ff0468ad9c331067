import type { Quotas, Scope, WorkspaceContext } from '@tocsin/schemas';
import { type Knex, query } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import type { Role, Seat } from '../domain/roles.ts';

/** A key that is not revoked, of an active user, with the data that authenticates and authorises a request. */
export interface Identity {
  keyId: number;
  /** The first of the keys that it has replaced by rotations; null: it has replaced none. */
  firstKeyId: number | null;
  keyName: string;
  /** The first characters of its token. */
  keyPrefix: string;
  userId: number;
  scopes: Scope[];
  seat: Seat;
  role: Role;
  expiresAt: Instant | null;
  /** When a session was used last, up to a minute earlier than it was; null for keys, which may rest. */
  usedAt: Instant | null;
  workspace: WorkspaceContext;
  /** Requests a minute; null for the installation's default. */
  rateLimit: number | null;
}

/** A token, by the slug of the workspace whose host it is sent to and its SHA-256 in hexadecimal (see `digestOf`). */
export interface TokenOfWorkspace {
  slug: string;
  digest: string;
}

interface IdentityRow {
  digest: string;
  key_id: number;
  first_key_id: number | null;
  key_name: string;
  key_prefix: string;
  user_id: number;
  scopes: Scope[];
  seat: Seat;
  role: Role;
  expires_at: Instant | null;
  used_at: Instant | null;
  workspace_id: number;
  slug: string;
  version: number;
  is_demo: boolean;
  history_days: string | null;
  reporting_currency: string;
  short_title_required: boolean;
  rate_limit: number | null;
  quotas: Quotas;
}

const FIND_WORKSPACES = 'select id, slug from workspaces where slug = any((select $1::text[])::text[])';

const FIND_BY_DIGESTS = `
  select encode(requested.digest, 'hex') as digest, k.id as key_id, k.first_key_id, k.name as key_name, k.token_shown as key_prefix,
         k.user_id, coalesce(token.scopes, k.scopes) as scopes, u.seat, u.role, least(k.expires_at, token.expires_at) as expires_at,
         case when k.kind = 'session' then coalesce(k.last_used_at, k.created_at) end as used_at,
         w.id as workspace_id, w.slug, w.version, w.is_demo, w.history_days,
         w.reporting_currency, w.short_title_required, w.rate_limit, w.quotas
    from unnest((select $1::text[]), (select $2::bytea[])) as requested (slug, digest)
    join workspaces w on w.slug = requested.slug
   cross join lateral (
      select id as key_id, null::timestamptz as expires_at, null::text[] as scopes from api_keys
       where workspace_id = w.id and token_digest = requested.digest
      union all
      select key_id, expires_at, string_to_array(coalesce(payload->>'scope', ''), ' ') from oauth_tokens
       where workspace_id = w.id and digest = requested.digest and kind = 'AccessToken'
    ) token
    join api_keys k on k.workspace_id = w.id and k.id = token.key_id
    join users u on u.workspace_id = k.workspace_id and u.id = k.user_id
   where k.revoked_at is null and u.active and w.suspended_at is null`;

/** The scopes of who acts in a chat: those of the commands there. */
const CHAT_SCOPES: readonly Scope[] = ['incidents:read', 'incidents:write', 'restricted:read'];

/** Named like a session, because the person acts and no program. */
const FIND_IN_CHAT = `
  select '' as digest, 0 as key_id, null::bigint as first_key_id, 'Slack' as key_name, 'tcn_slack' as key_prefix,
         u.id as user_id, $3::text[] as scopes, u.seat, u.role, null::timestamptz as expires_at, null::timestamptz as used_at,
         w.id as workspace_id, w.slug, w.version, w.is_demo, w.history_days,
         w.reporting_currency, w.short_title_required, w.rate_limit, w.quotas
    from users u join workspaces w on w.id = u.workspace_id
   where u.workspace_id = $1 and lower(u.email) = lower($2) and u.active and w.suspended_at is null`;

const FIND_VERSION = 'select version from identity_version';

/** The look-ups for requests, as prepared statements; each serves several requests at once. */
export function identityStore(database: Knex) {
  return {
    /** Returns the workspaces that exist, by slug. */
    findWorkspaceIds: async (slugs: readonly string[]): Promise<Map<string, number>> => {
      const rows = await query<{ id: number; slug: string }>(database, {
        name: 'find-workspaces',
        text: FIND_WORKSPACES,
        values: [slugs],
      });
      return new Map(rows.map(({ id, slug }) => [slug, id]));
    },

    /** Returns the valid identities of tokens. Does not check the expiry. */
    findByTokens: async (
      tokens: readonly TokenOfWorkspace[],
    ): Promise<(TokenOfWorkspace & { identity: Identity })[]> => {
      const rows = await query<IdentityRow>(database, {
        name: 'find-identities',
        text: FIND_BY_DIGESTS,
        values: [tokens.map(({ slug }) => slug), tokens.map(({ digest }) => Buffer.from(digest, 'hex'))],
      });
      return rows.map((row) => ({ slug: row.slug, digest: row.digest, identity: fromRow(row) }));
    },

    /** Returns who acts in the workspace's chat, by an email address in any case of letters. */
    findInChat: async (workspaceId: number, email: string): Promise<Identity | undefined> => {
      const [row] = await query<IdentityRow>(database, {
        name: 'find-user-in-chat',
        text: FIND_IN_CHAT,
        values: [workspaceId, email, CHAT_SCOPES],
      });
      return row && fromRow(row);
    },

    /** Every change of a workspace, a user or a key raises it. */
    findVersion: async (): Promise<number> => {
      const [row] = await query<{ version: number }>(database, { name: 'read-identity-version', text: FIND_VERSION });
      return row?.version ?? 0;
    },
  };
}

export type IdentityStore = ReturnType<typeof identityStore>;

const fromRow = (row: IdentityRow): Identity => ({
  keyId: row.key_id,
  firstKeyId: row.first_key_id,
  keyName: row.key_name,
  keyPrefix: row.key_prefix,
  userId: row.user_id,
  scopes: row.scopes,
  seat: row.seat,
  role: row.role,
  expiresAt: row.expires_at,
  usedAt: row.used_at,
  workspace: {
    id: row.workspace_id,
    slug: row.slug,
    version: row.version,
    is_demo: row.is_demo,
    history_days: row.history_days === null ? null : Number(row.history_days),
    reporting_currency: row.reporting_currency,
    short_title_required: row.short_title_required,
    own_rate_limit: row.rate_limit !== null,
    ...(Object.keys(row.quotas).length > 0 && { quotas: row.quotas }),
  },
  rateLimit: row.rate_limit,
});
