import { invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { addMilliseconds } from '@tocsin/runtime';
import { checkScopesWithin } from '../domain/authority.ts';
import { checkExpiry, checkOverlap } from '../domain/checks.ts';
import { digestOf, generateToken, shownPart } from '../domain/token.ts';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';
import type { CommandContext } from './actor.ts';
import type { KeyWithToken } from './create-key.ts';
import { checkValid, getManagedKey } from './get-managed-key.ts';
import { checkKeyQuota } from './quotas.ts';
import { recordKeyChange } from './record-change.ts';

export interface KeyRotation {
  workspaceId: number;
  id: number;
  /** How long the old token stays valid; milliseconds, 0: it is revoked at once. */
  overlap: number;
  /** When the new key expires, in RFC 3339; without it, when the old one would have. */
  expires?: string | undefined;
}

export interface RotatedKey extends KeyWithToken {
  replaced: ApiKey;
}

/**
 * Creates a key with the owner, name and scopes of another one, which ends after the overlap (contract: API keys).
 * @throws DomainError as `getManagedKey`; `missing_scope` for a key that has scopes which the acting key lacks;
 *   `invalid_resource_state` for a key that has ended or was replaced before, and for the quota
 */
export async function rotateKey(
  trx: Knex.Transaction,
  input: KeyRotation,
  context: CommandContext,
): Promise<RotatedKey> {
  const { actor, now } = context;
  checkOverlap(input.overlap);
  const expires = input.expires === undefined ? undefined : checkExpiry(input.expires, now);
  const { workspace, key: old, owner } = await getManagedKey(trx, { ...input, actor });
  // Its token is a new one with these scopes.
  if (actor.type === 'user') checkScopesWithin(actor.scopes, old.scopes);
  if (old.replacedBy !== null) throw invalidState(`The key ${old.id} was replaced by the key ${old.replacedBy}`);
  checkValid(old, now);
  if (!owner.active) throw invalidState(`The user ${owner.email} is deactivated`);
  if (input.overlap > 0) await checkKeyQuota(trx, { workspace, now });

  const store = keyStore(trx);
  const token = generateToken();
  const { userId, name, scopes } = old;
  const key = await store.insert({
    ...{ userId, name, scopes, expiresAt: expires ?? old.expiresAt, createdAt: now },
    shown: shownPart(token),
    digest: digestOf(token),
  });
  const end = addMilliseconds(now, input.overlap);
  const replaced = await store.change(old.id, {
    replacedBy: key.id,
    expiresAt: input.overlap === 0 || (old.expiresAt !== null && old.expiresAt < end) ? old.expiresAt : end,
    revokedAt: input.overlap === 0 ? now : null,
  });
  await recordKeyChange(trx, context, { workspace, verb: 'rotated', before: old, after: replaced });
  await recordKeyChange(trx, context, { workspace, verb: 'created', before: null, after: key });
  await announceIdentityChange(trx);
  return { key, token, replaced };
}
