import { checkRevision } from '@tocsin/http';
import type { Knex } from '@tocsin/postgres';
import { selectEntry, type Configuration } from '../configuration/domain/configuration.ts';
import { changesBetween } from './domain/changes.ts';
import type { Incident, IncidentProperties } from './domain/incident.ts';
import { checkWritable, statusChange } from './domain/lifecycle.ts';
import { bytesOfChanges } from './domain/changed-bytes.ts';
import { incidentStore } from './store/incident-store.ts';
import { lockWithConfiguration } from './store/lock-with-configuration.ts';
import type { Caller } from '@tocsin/resources';
import { authorOf } from './author.ts';
import type { Dependencies } from '../dependencies.ts';
import { checkReferences, refersToUsers, changedReferences } from './references.ts';
import type { Freshness } from '../replicas/replicas.ts';
import { withFreeExternalId } from './external-ids.ts';
import { saveIncident } from './save-incident.ts';
import { withConfiguration } from '../configuration/with-configuration.ts';

export interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<IncidentProperties>;
}

/**
 * Updates properties of an active incident (contract: Incidents). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateIncident(dependencies: Dependencies, command: UpdateCommand): Promise<Incident> {
  const { principal, id, expectedRevision, changes } = command;
  let written = 0;
  // Before the transaction: while a row is locked, no request calls a service or waits for a second connection.
  const refersToReplicas = typeof changes.teamId === 'number' || refersToUsers(changes);
  const attempt = async (
    trx: Knex.Transaction,
    { configuration, freshness }: { configuration: Configuration; freshness: Freshness },
  ): Promise<Incident> => {
    const workspaceId = principal.workspace.id;
    const before =
      changes.status === undefined && changes.severity === undefined
        ? await incidentStore(trx, workspaceId).getForUpdate(id)
        : await lockWithConfiguration(trx, { workspaceId, id, configuration });
    const { statuses, severities } = configuration;
    checkWritable(before);
    checkRevision(before.revision, expectedRevision);
    const bytes = bytesOfChanges(changesBetween(before, { ...before, ...changes }));
    dependencies.storage.check(principal.workspace, { kind: 'change', growth: bytes.growth });
    written = bytes.written;
    const now = dependencies.clock.now();
    const severityMode = severityModeAfter(before, changes);
    const status = changes.status === undefined ? {} : statusChange(before, changes.status, { statuses, now });
    if (changes.severity !== undefined) selectEntry(severities, changes.severity, 'severity');
    const properties = changedReferences(before, changes);
    await checkReferences(trx, { workspace: principal.workspace, properties, freshness });
    return saveIncident({
      trx,
      author: authorOf(command),
      before,
      change: { ...changes, ...status, severityMode },
      now,
      commit: true,
    });
  };
  const updated = await dependencies.replicas.withFreshReplicas(
    principal.workspace,
    refersToReplicas ? ['catalog', 'users'] : [],
    async (freshness) =>
      withConfiguration(dependencies, principal.workspace, async (configuration) =>
        withFreeExternalId(dependencies, {
          incident: { ...changes, workspaceId: principal.workspace.id },
          write: async () =>
            dependencies.database.transaction(async (trx) => attempt(trx, { configuration, freshness })),
        }),
      ),
  );
  dependencies.storage.add(principal.workspace.id, { bytes: written });
  dependencies.wakeRelay();
  return updated;
}

/** A new severity makes the mode manual unless the request gives the mode; the stored severity keeps the mode. */
function severityModeAfter(before: Incident, { severity, severityMode }: Partial<Incident>): Incident['severityMode'] {
  if (severityMode !== undefined) return severityMode;
  return severity === undefined || severity === before.severity ? before.severityMode : 'manual';
}
