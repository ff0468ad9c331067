import { z } from 'zod';

const id = z.int().min(1);

/**
 * The user that a request is made for and what that user may do, determined and signed by the gateway. Includes the
 * workspace's settings, so that no service needs a copy; `version` counts changes to its configuration and users.
 */
const userPrincipal = z.object({
  kind: z.literal('user'),
  workspace: z.object({
    id,
    slug: z.string(),
    version: z.int().min(0),
    is_demo: z.boolean(),
    history_days: z.number().positive().nullable(),
    reporting_currency: z.string(),
    short_title_required: z.boolean(),
    /** Whether an administrator has set a rate limit for it; a principal of an older gateway does not say. */
    own_rate_limit: z.boolean().optional(),
    /** Those that are not the default; null is unlimited. A gateway of an earlier release sends none. */
    quotas: z.record(z.string(), z.int().min(0).nullable()).optional(),
  }),
  user_id: id,
  /** 0: a chat that the workspace has connected, and no key; then `first_key_id` is absent (contract: Chat). */
  key_id: z.int().min(0),
  /** The first one that this key has replaced by rotations, if it has. A gateway of an earlier release does not say. */
  first_key_id: id.optional(),
  /** As it is named at this moment, for what is recorded. A gateway of an earlier release does not say. */
  key: z.object({ name: z.string(), prefix: z.string() }).optional(),
  // Strings, so that a service accepts a principal of a newer gateway that has more scopes.
  scopes: z.array(z.string()),
  seat: z.enum(['responder', 'none']),
  permissions: z.array(z.string()),
});

/** Asks who acts in a connected chat: the user of a workspace with an email address, in any case of letters. */
export const actingUserQuery = z.strictObject({ workspace_id: id, email: z.string().min(1).max(254) });
/** Null: the workspace has no active user with this address, or is suspended. */
export const actingUser = z.object({ principal: userPrincipal.nullable() });

/** A service that calls another one; the signing key identifies it. */
const servicePrincipal = z.object({ kind: z.literal('service') });

/** What the gateway or a service signs, with when it expires: milliseconds since 1970. */
export const signedPrincipal = z.object({
  principal: z.discriminatedUnion('kind', [userPrincipal, servicePrincipal]),
  expires: z.int(),
});

export type Principal = z.infer<typeof userPrincipal>;
export type ServicePrincipal = z.infer<typeof servicePrincipal>;
export type WorkspaceContext = Principal['workspace'];
