import { invalidState, notFound } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds, type Instant } from '@tocsin/runtime';
import { checkExpiry, checkOverlap } from '../domain/checks.ts';
import { digestOf, generateToken, shownPart } from '../domain/token.ts';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { keyStore, type OwnedKey } from '../store/key-store.ts';
import { getKey } from './lookups.ts';

export interface KeyRotation {
  id: number;
  /** How long the old token stays valid; milliseconds, 0: it is revoked at once. */
  overlap: number;
  /** When the new key expires, in RFC 3339; without it, when the old one would have. */
  expires?: string | undefined;
}

export interface RotatedKey {
  key: OwnedKey;
  /** Returned only here. */
  token: string;
  replaced: OwnedKey;
}

/**
 * Creates a key with the owner, name and scopes of another one, which ends after the overlap (contract: Administration).
 * @throws DomainError `not_found`, or `invalid_resource_state` for a key that has ended or was replaced before
 */
export async function rotateKey(trx: Knex.Transaction, input: KeyRotation, now: Instant): Promise<RotatedKey> {
  checkOverlap(input.overlap);
  const store = keyStore(trx);
  const old = await store.findForUpdate(input.id);
  if (old === undefined) throw notFound(`The key ${input.id}`);
  if (old.replacedBy !== null) throw invalidState(`The key ${old.id} was replaced by the key ${old.replacedBy}`);
  if (old.revokedAt !== null) throw invalidState(`The key ${old.id} is revoked`);
  if (old.expiresAt !== null && old.expiresAt <= now) throw invalidState(`The key ${old.id} has expired`);
  const expiresAt = input.expires === undefined ? old.expiresAt : checkExpiry(input.expires, now);
  const { user, ownerActive } = await getKey(trx, old.id);
  if (!ownerActive) throw invalidState(`The user ${user} is deactivated`);

  const token = generateToken();
  const { userId, name, scopes } = old;
  const { id } = await store.insert({
    ...{ userId, name, scopes, expiresAt, createdAt: now },
    shown: shownPart(token),
    digest: digestOf(token),
  });
  const end = addMilliseconds(now, input.overlap);
  await store.replace(old.id, {
    replacedBy: id,
    expiresAt: input.overlap === 0 || (old.expiresAt !== null && old.expiresAt < end) ? old.expiresAt : end,
    revokedAt: input.overlap === 0 ? now : null,
  });
  await announceIdentityChange(trx);
  return { key: await getKey(trx, id), token, replaced: await getKey(trx, old.id) };
}
