import { ARCHIVED_FACTOR, quotaOf } from '@tocsin/contracts';
import { quotaExceeded } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { keyStore } from '../store/key-store.ts';
import { userStore } from '../store/user-store.ts';
import type { Workspace } from '../store/workspace-store.ts';

/**
 * Checks that a workspace whose row this transaction has locked may have another active user.
 * @param isNew whether the user is created, not activated
 * @throws DomainError `invalid_resource_state`
 */
export async function checkUserQuota(
  trx: Knex.Transaction,
  { workspace, isNew }: { workspace: Workspace; isNew: boolean },
): Promise<void> {
  const quota = quotaOf(workspace, 'users');
  if (quota === null) return;
  const { active, all } = await userStore(trx).count(workspace.id, ARCHIVED_FACTOR * quota);
  if (active >= quota) throw quotaExceeded('users', `at most ${quota} active users`);
  if (isNew && all >= ARCHIVED_FACTOR * quota) {
    throw quotaExceeded('users', `at most ${ARCHIVED_FACTOR * quota} users with the deactivated ones`);
  }
}

/** As `checkUserQuota`, for another API key. */
export async function checkKeyQuota(
  trx: Knex.Transaction,
  { workspace, now }: { workspace: Workspace; now: Instant },
): Promise<void> {
  const quota = quotaOf(workspace, 'api_keys');
  if (quota === null || (await keyStore(trx).countValid(workspace.id, now)) < quota) return;
  throw quotaExceeded('api_keys', `at most ${quota} valid API keys`);
}
