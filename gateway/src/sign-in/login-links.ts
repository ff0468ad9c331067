import { DomainError, invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { type CommandContext, findManager } from '../accounts/actor.ts';
import { findGrant, findGrantOfKey } from '../accounts/grants.ts';
import { existing, getUser, getWorkspace } from '../accounts/lookups.ts';
import { recordLoginLink } from '../accounts/record-change.ts';
import { keyStore } from '../accounts/store/key-store.ts';
import { loginLinkStore } from '../accounts/store/login-link-store.ts';
import { type User, userStore } from '../accounts/store/user-store.ts';
import { workspaceStore } from '../accounts/store/workspace-store.ts';
import { checkWithin, EVERYTHING } from '../identity/domain/authority.ts';
import { LOGIN_LINK_LIFETIME } from '../identity/domain/session.ts';
import { digestOf, generateToken, isToken } from '../identity/domain/token.ts';
import { type SigningIn, startSession } from './start-session.ts';

/** What opens the console once: its token, and until when. */
export interface LoginLink {
  token: string;
  expiresAt: Instant;
}

/**
 * Creates a link that signs a user in once, within ten minutes (contract: Sessions).
 * @throws DomainError `not_found`; `invalid_resource_state` for a deactivated user
 */
export async function createLoginLink(
  trx: Knex.Transaction,
  { workspace: slug, email }: { workspace: string; email: string },
  now: Instant,
): Promise<LoginLink> {
  return insertLink(trx, await getUser(trx, await getWorkspace(trx, slug), email), now);
}

/**
 * The same by a user, for another one whose role is not above theirs; it replaces the unused links of that user.
 * @throws DomainError `not_found`, `missing_role_permission`; `permission_denied`, also for a key that expires;
 *   `missing_scope` for a key without all scopes; `invalid_resource_state` for a deactivated user
 */
export async function createUserLoginLink(
  trx: Knex.Transaction,
  { workspaceId, id }: { workspaceId: number; id: number },
  context: CommandContext,
): Promise<LoginLink> {
  const { now } = context;
  const workspace = await workspaceStore(trx).lock(workspaceId);
  const user = await existing(userStore(trx).find(workspaceId, id), 'The user');
  const acting = await findManager(trx, { workspaceId, actor: context.actor });
  // Whoever signs in with it can make keys that last.
  checkWithin(await findGrant(trx, { context, acting, owner: user }), EVERYTHING);
  await loginLinkStore(trx).deleteOf(workspaceId, id);
  const link = await insertLink(trx, user, now);
  await recordLoginLink(trx, context, { workspace, user, expiresAt: link.expiresAt });
  return link;
}

/** @throws DomainError `invalid_resource_state` for a deactivated user */
export async function insertLink(trx: Knex.Transaction, user: User, now: Instant): Promise<LoginLink> {
  if (!user.active) throw invalidState(`The user ${user.email} is deactivated`);
  const token = generateToken('login_link');
  const expiresAt = addMilliseconds(now, LOGIN_LINK_LIFETIME);
  await loginLinkStore(trx).deleteExpired(now);
  await loginLinkStore(trx).insert({
    workspaceId: user.workspaceId,
    userId: user.id,
    digest: digestOf(token),
    expiresAt,
  });
  return { token, expiresAt };
}

export interface TokenSignIn extends SigningIn {
  /** That of a link or of an API key. */
  token: string;
  /** The workspace that the host names. */
  slug: string | undefined;
  /** The user of the session that must not be replaced by one of another user. */
  signedIn: number | undefined;
}

/**
 * Uses up a link, or takes the token of a key, and begins a session of its user (contract: Sessions).
 * @returns the token of the session
 * @throws DomainError `invalid_resource_state` if another user is signed in; `authentication_required` for a token that is
 *   unknown, used, too old, or of another workspace
 */
export async function signInByToken(
  database: Knex,
  { token: given, slug, signedIn, ...signingIn }: TokenSignIn,
  now: Instant,
): Promise<{ token: string }> {
  return database.transaction(async (trx) => {
    if (slug === undefined) throw invalidToken();
    const used: Used | undefined = isToken(given, 'login_link')
      ? await loginLinkStore(trx).use(slug, digestOf(given), now)
      : await findKey(trx, slug, given);
    if (used === undefined) throw invalidToken();
    const { userId, workspaceId, keyId } = used;
    const workspace = await workspaceStore(trx).lock(workspaceId);
    const user = await userStore(trx).find(workspaceId, userId);
    if (user?.active !== true || workspace.suspendedAt !== null) throw invalidToken();
    const grant =
      keyId === undefined ? EVERYTHING : await findGrantOfKey(trx, { workspaceId, id: keyId, acting: user, now });
    if (grant === undefined) throw invalidToken();
    const present = signedIn === undefined ? undefined : await userStore(trx).find(workspaceId, signedIn);
    if (present !== undefined && present.id !== userId) throw otherUser(present, user);
    const { token } = await startSession(trx, { ...signingIn, workspace, userId, begunBy: keyId, grant }, now);
    return { token };
  });
}

/** Whom a token signs in; `keyId` if it is that of a key. */
interface Used {
  userId: number;
  workspaceId: number;
  keyId?: number;
}

async function findKey(trx: Knex.Transaction, slug: string, token: string): Promise<Used | undefined> {
  const key = isToken(token, 'key') ? await keyStore(trx).findByDigest(slug, digestOf(token)) : undefined;
  return key && { userId: key.userId, workspaceId: key.workspaceId, keyId: key.id };
}

const otherUser = (present: User, next: User) =>
  new DomainError('invalid_resource_state', `${present.name} is signed in in this browser`, {
    details: {
      signed_in: { name: present.name, email: present.email },
      link: { name: next.name, email: next.email },
    },
  });

const invalidToken = () =>
  new DomainError(
    'authentication_required',
    'The link was used, is older than ten minutes, or is of another workspace; or the token is not valid here',
  );
