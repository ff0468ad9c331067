import { randomUUID } from 'node:crypto';
import { DomainError } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';
import { deleteIncident } from '../deletion/delete-incident.ts';
import type { CommandDependencies } from '../incidents/run-command.ts';
import type { Owners } from '../replicas/clients/owners.ts';
import { deletedBefore, type RetentionKind } from './domain/retention.ts';
import { deleteEntries, listArchivedBefore, listRetentions, type RetentionOf } from './store/retention-store.ts';

interface Dependencies extends CommandDependencies {
  owners: Pick<Owners, 'deleteAuditEntries'>;
  /** The time that is certain: nothing is deleted for good because a clock is ahead. */
  time: () => Promise<Instant>;
}

/** Workspaces that are read at once. */
const WORKSPACES = 100;
/** Incidents of one workspace before the next one has its turn. */
const INCIDENTS = 50;

/**
 * Deletes a batch of what each workspace keeps no longer. What fails keeps nothing else from it, and is tried again. Returns
 * whether there may be more.
 * @throws the first error, after all workspaces
 */
export async function deleteExpired(dependencies: Dependencies): Promise<boolean> {
  const errors: unknown[] = [];
  let hasMore = false;
  const attempt = async (work: () => Promise<boolean>) => {
    const isMore = await work().catch((error: unknown) => {
      errors.push(error);
      return false;
    });
    hasMore ||= isMore;
  };
  for (let after = 0, isLast = false; !isLast;) {
    const page = await listRetentions(dependencies.database, after, WORKSPACES);
    const now = await dependencies.time();
    for (const each of page) for (const work of deletionsOf(dependencies, each, now)) await attempt(work);
    after = page.at(-1)?.workspaceId ?? after;
    isLast = page.length < WORKSPACES;
  }
  if (errors.length > 0) throw errors[0];
  return hasMore;
}

/** What is deleted of one workspace; each returns whether there may be more. */
function deletionsOf(
  dependencies: Dependencies,
  { workspaceId, retention, setBy }: RetentionOf,
  now: Instant,
): (() => Promise<boolean>)[] {
  const { database, owners } = dependencies;
  const until = (kind: RetentionKind, work: (before: Instant) => Promise<boolean>) => {
    const before = deletedBefore(retention, kind, now);
    return before === undefined ? [] : [async () => work(before)];
  };
  const deleteLog = (log: 'access_log' | 'alert_records') =>
    until(log, async (before) => deleteEntries(database, log, { workspaceId, before }));
  return [
    ...deleteLog('access_log'),
    ...deleteLog('alert_records'),
    ...until('audit_log', async (before) => owners.deleteAuditEntries(workspaceId, before)),
    ...until('archived_incidents', async (archivedBefore) => {
      const ids = await listArchivedBefore(database, { workspaceId, before: archivedBefore, limit: INCIDENTS });
      const reason = `Archived for ${retention.archived_incidents?.days} days`;
      const errors: unknown[] = [];
      for (const id of ids) {
        const command = { principal: setBy, requestId: randomUUID(), id, reason, archivedBefore };
        await deleteIncident(dependencies, command).catch((error: unknown) => {
          // Somebody may have deleted it since.
          if (!(error instanceof DomainError && error.code === 'not_found')) errors.push(error);
        });
      }
      if (errors.length > 0) throw errors[0];
      return ids.length === INCIDENTS;
    }),
  ];
}
