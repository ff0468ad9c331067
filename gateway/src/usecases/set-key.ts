import { checkRevision, invalidRequest } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { checkScopesWithin } from '../domain/authority.ts';
import { checkName, checkScopes } from '../domain/checks.ts';
import { announceIdentityChange } from '../store/identity-changes.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';
import type { CommandContext } from './actor.ts';
import { checkValid, getManagedKey } from './get-managed-key.ts';
import { recordKeyChange } from './record-change.ts';

export interface KeyChange {
  workspaceId: number;
  id: number;
  expectedRevision: number;
  name?: string | undefined;
  /** Some of those that it has. */
  scopes?: readonly string[] | undefined;
}

/**
 * Changes the name of a valid key, or takes scopes from it (contract: API keys).
 * @throws DomainError as `getManagedKey`; `invalid_resource_state`, `precondition_failed`; `missing_scope` or
 *   `invalid_request` for a scope that the key does not have
 */
export async function setKey(trx: Knex.Transaction, input: KeyChange, context: CommandContext): Promise<ApiKey> {
  const { actor, now } = context;
  const name = input.name === undefined ? undefined : checkName(input.name);
  const scopes = input.scopes === undefined ? undefined : checkScopes(input.scopes);
  const { workspace, key } = await getManagedKey(trx, { ...input, actor });
  checkValid(key, now);
  checkRevision(key.revision, input.expectedRevision);
  const added = scopes?.filter((scope) => !key.scopes.includes(scope)) ?? [];
  if (actor.type === 'user') checkScopesWithin(actor.scopes, added, 'scopes');
  if (added.length > 0) throw invalidRequest('scopes', `Must not have scopes that the key lacks: ${added.join(', ')}`);
  const hasFewer = scopes !== undefined && scopes.length < key.scopes.length;
  const changes = { ...(name !== undefined && name !== key.name && { name }), ...(hasFewer && { scopes }) };
  if (Object.keys(changes).length === 0) return key;
  const changed = await keyStore(trx).change(key.id, changes);
  await recordKeyChange(trx, context, { workspace, verb: 'updated', before: key, after: changed });
  if (hasFewer) await announceIdentityChange(trx);
  return changed;
}
