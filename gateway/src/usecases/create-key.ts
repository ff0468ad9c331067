import { invalidState } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkExpiry, checkName, checkScopes } from '../domain/checks.ts';
import { digestOf, generateToken, shownPart } from '../domain/token.ts';
import { type ApiKey, keyStore } from '../store/key-store.ts';
import { workspaceStore } from '../store/workspace-store.ts';
import { getUser, getWorkspace } from './lookups.ts';
import { checkKeyQuota } from './quotas.ts';

export interface NewKey {
  /** The workspace's slug. */
  workspace: string;
  /** The owner's email address. */
  user: string;
  name: string;
  scopes: readonly string[];
  /** RFC 3339; without it the key does not expire. */
  expires?: string | undefined;
}

/** Creates a key. The token is returned only here (contract: Administration). */
export async function createKey(
  trx: Knex.Transaction,
  input: NewKey,
  now: Instant,
): Promise<{ key: ApiKey; token: string }> {
  const name = checkName(input.name);
  const scopes = checkScopes(input.scopes);
  const expiresAt = input.expires === undefined ? null : checkExpiry(input.expires, now);
  const workspace = await getWorkspace(trx, input.workspace);
  const owner = await getUser(trx, workspace, input.user);
  if (!owner.active) throw invalidState(`The user ${owner.email} is deactivated`);
  await workspaceStore(trx).lock(workspace.id);
  await checkKeyQuota(trx, { workspace, now });
  const token = generateToken();
  const key = await keyStore(trx).insert({
    userId: owner.id,
    name,
    scopes,
    expiresAt,
    createdAt: now,
    shown: shownPart(token),
    digest: digestOf(token),
  });
  return { key, token };
}
