import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { digestOf, isToken } from '../domain/token.ts';
import { loginLinkStore } from '../store/login-link-store.ts';
import { userStore } from '../store/user-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { type SigningIn, startSession } from './start-session.ts';

export interface LinkSignIn extends SigningIn {
  /** The token of the link. */
  link: string;
  /** The workspace that the host names. */
  slug: string | undefined;
}

/**
 * Uses up a link and begins a session of its user (contract: Sessions).
 * @returns the token of the session
 * @throws DomainError `authentication_required` for a link that is unknown, used, too old, or of another workspace
 */
export async function signInByLink(
  database: Knex,
  { link, slug, ...signingIn }: LinkSignIn,
  now: Instant,
): Promise<{ token: string }> {
  if (!isToken(link, 'login_link')) throw invalidLink();
  return database.transaction(async (trx) => {
    const used = await loginLinkStore(trx).use(digestOf(link), now);
    if (used === undefined) throw invalidLink();
    const { userId, workspaceId } = used;
    const workspace = await workspaceStore(trx).lock(workspaceId);
    const user = await userStore(trx).find(workspaceId, userId);
    // Throwing undoes the use: the link still works at its own host.
    if (workspace.slug !== slug || user?.active !== true) throw invalidLink();
    return startSession(trx, { ...signingIn, workspace, userId }, now);
  });
}

const invalidLink = () =>
  new DomainError(
    'authentication_required',
    'The link was used, is older than ten minutes, or is of another workspace',
  );
