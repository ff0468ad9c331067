import type { Knex } from '@tocsin/postgres';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { type ApiKey, type KeyKind, keyStore } from '../store/key-store.ts';
import type { CommandContext } from './actor.ts';
import { getManagedKey } from './get-managed-key.ts';
import { recordKeyChange } from './record-change.ts';

/**
 * Revokes a key or a session for good; every gateway refuses its token within a second (contract: API keys). Safe to repeat.
 * @throws DomainError as `getManagedKey`
 */
export async function revokeKey(
  trx: Knex.Transaction,
  input: { workspaceId: number; id: number; kind?: KeyKind },
  context: CommandContext,
): Promise<ApiKey> {
  const { actor, now } = context;
  const { workspace, key } = await getManagedKey(trx, { ...input, actor });
  if (key.revokedAt !== null) return key;
  const revoked = await keyStore(trx).change(key.id, { revokedAt: now });
  await recordKeyChange(trx, context, { workspace, verb: 'revoked', before: key, after: revoked });
  await announceIdentityChange(trx);
  return revoked;
}
