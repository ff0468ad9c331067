import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { invalidState } from '@tocsin/http';
import { LOGIN_LINK_LIFETIME } from '../domain/session.ts';
import { digestOf, generateToken } from '../domain/token.ts';
import { loginLinkStore } from '../store/login-link-store.ts';
import { getUser, getWorkspace } from './lookups.ts';

/**
 * Creates a link that signs a user in once, within ten minutes (contract: Sessions).
 * @throws DomainError `not_found`; `invalid_resource_state` for a deactivated user
 */
export async function createLoginLink(
  trx: Knex.Transaction,
  { workspace: slug, email }: { workspace: string; email: string },
  now: Instant,
): Promise<{ token: string; expiresAt: Instant }> {
  const user = await getUser(trx, await getWorkspace(trx, slug), email);
  if (!user.active) throw invalidState(`The user ${user.email} is deactivated`);
  const token = generateToken('login_link');
  const expiresAt = addMilliseconds(now, LOGIN_LINK_LIFETIME);
  await loginLinkStore(trx).deleteExpired(now);
  await loginLinkStore(trx).insert({ digest: digestOf(token), userId: user.id, expiresAt });
  return { token, expiresAt };
}
