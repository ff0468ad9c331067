import { type Knex, query, VERSION_GAP } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { announceIdentityChange } from '../identity/store/identity-changes.ts';
import { checkCurrency, checkHistoryDays, checkName, checkQuotas, checkRateLimit, checkSlug } from './domain/checks.ts';
import { userLists } from './store/user-store.ts';
import { type Workspace, type WorkspaceSettings, workspaceStore, workspaceVersions } from './store/workspace-store.ts';
import { announceWorkspace, publishUser, publishWorkspace } from './announce.ts';
import { getWorkspace, getWorkspaceById } from './lookups.ts';
import { recordWorkspaceChange } from './record-change.ts';

export type NewWorkspace = { slug: string; name: string } & Partial<WorkspaceSettings>;

/** Creates a workspace; settings that are not given get their defaults (contract: Administration). */
export async function createWorkspace(
  trx: Knex.Transaction,
  { slug, ...settings }: NewWorkspace,
  now: Instant,
): Promise<Workspace> {
  checkSlug(slug);
  const checked = checkSettings(settings);
  const workspace = await workspaceStore(trx).insert(slug, checked, now);
  await announceWorkspace(trx, workspace, now);
  await recordWorkspaceChange(trx, { verb: 'created', before: null, after: workspace, now });
  return workspace;
}

/**
 * Changes the given settings, and always raises the workspace's version: without settings, this announces a change of
 * its configuration in another service (contract: Administration).
 */
export async function setWorkspace(
  trx: Knex.Transaction,
  { slug, ...settings }: { slug: string } & Partial<WorkspaceSettings>,
  now: Instant,
): Promise<Workspace> {
  const before = await getWorkspace(trx, slug);
  const workspace = await workspaceStore(trx).change(before.id, checkSettings(settings), now);
  await announceWorkspace(trx, workspace, now);
  if (Object.keys(settings).length > 0) {
    await recordWorkspaceChange(trx, { verb: 'updated', before, after: workspace, now });
  }
  return workspace;
}

/** Raises the workspace's version, because another service has changed its configuration. */
export async function announceConfiguration(trx: Knex.Transaction, workspaceId: number, now: Instant): Promise<void> {
  const { id } = await getWorkspaceById(trx, workspaceId);
  await announceWorkspace(trx, await workspaceStore(trx).change(id, {}, now), now);
}

/** @throws DomainError `invalid_request` */
function checkSettings(settings: Partial<WorkspaceSettings>): Partial<WorkspaceSettings> {
  if (settings.historyDays !== undefined) checkHistoryDays(settings.historyDays);
  if (settings.reportingCurrency !== undefined) checkCurrency(settings.reportingCurrency);
  if (settings.rateLimit !== undefined) checkRateLimit(settings.rateLimit);
  if (settings.quotas !== undefined) checkQuotas(settings.quotas);
  return { ...settings, ...(settings.name !== undefined && { name: checkName(settings.name) }) };
}

const BATCH = 500;

/**
 * Makes a workspace and all its users newer than anything that replicas have seen, and publishes them again. For data
 * that were restored to an earlier moment: replicas ignore everything that is older than what they have.
 * @param options.seen the highest version that any replica has seen
 * @returns the new version
 */
export async function republishUsers(
  trx: Knex.Transaction,
  { workspaceId, seen, now }: { workspaceId: number; seen: number; now: Instant },
): Promise<number> {
  const workspace = await workspaceVersions(trx).raise(workspaceId, seen + VERSION_GAP);
  await publishWorkspace(trx, workspace, now);
  const rows = await query<{ id: number }>(trx, {
    text: 'update users set version = $2 where workspace_id = $1 returning id',
    values: [workspaceId, workspace.version],
  });
  for (let start = 0; start < rows.length; start += BATCH) {
    const ids = rows.slice(start, start + BATCH).map(({ id }) => id);
    for (const user of await userLists(trx).listByIds(workspaceId, ids)) {
      await publishUser(trx, { workspace, user, now });
    }
  }
  await announceIdentityChange(trx);
  return workspace.version;
}
