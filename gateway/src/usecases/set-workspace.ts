import type { Knex } from '@tocsin/postgres';
import type { Instant } from '@tocsin/runtime';
import { checkCurrency, checkHistoryDays, checkName, checkQuotas, checkRateLimit } from '../domain/checks.ts';
import { type Workspace, type WorkspaceSettings, workspaceStore } from '../store/workspace-store.ts';
import { announceWorkspace } from './announce.ts';
import { getWorkspace, getWorkspaceById } from './lookups.ts';
import { recordWorkspaceChange } from './record-change.ts';

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
export function checkSettings(settings: Partial<WorkspaceSettings>): Partial<WorkspaceSettings> {
  if (settings.historyDays !== undefined) checkHistoryDays(settings.historyDays);
  if (settings.reportingCurrency !== undefined) checkCurrency(settings.reportingCurrency);
  if (settings.rateLimit !== undefined) checkRateLimit(settings.rateLimit);
  if (settings.quotas !== undefined) checkQuotas(settings.quotas);
  return { ...settings, ...(settings.name !== undefined && { name: checkName(settings.name) }) };
}
