import { DomainError } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkActsFor, checkWithin, EVERYTHING, type Grant, grantOf } from '../identity/domain/authority.ts';
import { type CommandContext, findActingUser } from './actor.ts';
import { existing } from './lookups.ts';
import { keyStore } from './store/key-store.ts';
import { type User, userStore } from './store/user-store.ts';

/**
 * Answers what the credential of a request may pass on at most, to a token that acts as `owner` (ADR 73).
 * @param options.acting undefined for an operator
 * @throws DomainError `missing_role_permission` or `permission_denied` for another owner; `permission_denied` if the
 *   credential has ended since the request came
 */
export async function findGrant(
  trx: Knex.Transaction,
  options: { context: CommandContext; acting: User | undefined; owner: User },
): Promise<Grant> {
  const {
    context: { actor, now },
    acting,
    owner,
  } = options;
  checkActsFor(acting, owner);
  if (actor.type === 'operator') return EVERYTHING;
  const grant = await findGrantOfKey(trx, { workspaceId: owner.workspaceId, id: actor.keyId, acting, now });
  if (grant === undefined) throw new DomainError('permission_denied', 'The token is no longer valid');
  return grant;
}

/** The same for a key or session of `acting`; undefined: it has ended. */
export async function findGrantOfKey(
  trx: Knex.Transaction,
  { workspaceId, id, acting, now }: { workspaceId: number; id: number; acting: User | undefined; now: Instant },
): Promise<Grant | undefined> {
  const get = async (keyId: number) => existing(keyStore(trx).find(workspaceId, keyId), `The key ${keyId}`);
  const key = await get(id);
  const beginner = key.begunBy === null ? undefined : await get(key.begunBy);
  return grantOf(key, { acting, beginner, now });
}

/**
 * Checks that the caller could make or replace this key now, before a stored response with its token is sent again: the
 * same Idempotency-Key may come with another key of the user, and the user may have lost rights (contract: Idempotency).
 * @param key as it was when its token was made
 * @throws DomainError as `findGrant` and `checkWithin`
 */
export async function checkTokenReplay(
  trx: Knex.Transaction,
  { workspaceId, userId, ...grant }: Grant<string> & { workspaceId: number; userId: number },
  context: CommandContext,
): Promise<void> {
  const acting = await findActingUser(trx, { workspaceId, actor: context.actor });
  const owner = await existing(userStore(trx).find(workspaceId, userId), 'The user');
  checkWithin(await findGrant(trx, { context, acting, owner }), grant);
}
