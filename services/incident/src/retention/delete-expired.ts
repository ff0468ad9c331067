import { randomUUID } from 'node:crypto';
import { DomainError } from '@tocsin/http';
import { deleteIncident } from '../deletion/delete-incident.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { deletedBefore } from './domain/retention.ts';
import { deleteEntries, listArchivedBefore, listRetentions, type RetentionOf } from './store/retention-store.ts';

interface Dependencies extends CommandDependencies {
  owners: Pick<Owners, 'deleteAuditEntries'>;
}

/** Workspaces that are read at once. */
const WORKSPACES = 100;
/** Incidents of one workspace before the next one has its turn. */
const INCIDENTS = 50;

/**
 * Deletes a batch of what each workspace keeps no longer. What fails in one workspace keeps no other from it, and is tried
 * again. Returns whether there may be more.
 * @throws the first error, after all workspaces
 */
export async function deleteExpired(dependencies: Dependencies): Promise<boolean> {
  const errors: unknown[] = [];
  let hasMore = false;
  for (let after = 0; ;) {
    const page = await listRetentions(dependencies.database, after, WORKSPACES);
    for (const each of page) {
      try {
        hasMore = (await deleteOf(dependencies, each)) || hasMore;
      } catch (error) {
        errors.push(error);
      }
      after = each.workspaceId;
    }
    if (page.length < WORKSPACES) break;
  }
  if (errors.length > 0) throw errors[0];
  return hasMore;
}

async function deleteOf(dependencies: Dependencies, { workspaceId, retention, setBy }: RetentionOf): Promise<boolean> {
  const { database, clock, owners } = dependencies;
  const now = clock.now();
  let hasMore = false;
  for (const log of ['access_log', 'alert_records'] as const) {
    const before = deletedBefore(retention, log, now);
    if (before !== undefined) hasMore = (await deleteEntries(database, log, { workspaceId, before })) || hasMore;
  }
  const archivedBefore = deletedBefore(retention, 'archived_incidents', now);
  if (archivedBefore !== undefined) {
    const ids = await listArchivedBefore(database, { workspaceId, before: archivedBefore, limit: INCIDENTS });
    const reason = `Archived for ${retention.archived_incidents?.days} days`;
    for (const id of ids) {
      const command = { principal: setBy, requestId: randomUUID(), id, reason, archivedBefore };
      await deleteIncident(dependencies, command).catch((error: unknown) => {
        // Somebody has deleted it since.
        if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
      });
    }
    hasMore ||= ids.length === INCIDENTS;
  }
  const auditBefore = deletedBefore(retention, 'audit_log', now);
  if (auditBefore !== undefined) hasMore = (await owners.deleteAuditEntries(workspaceId, auditBefore)) || hasMore;
  return hasMore;
}
