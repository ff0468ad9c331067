import { checkRevision, DomainError } from '@tocsin/http';
import type { Caller } from '@tocsin/resources';
import { selectEntry } from '../configuration/domain/configuration.ts';
import { changesBetween } from './domain/changes.ts';
import type { Incident, IncidentProperties } from './domain/incident.ts';
import { checkWritable, statusChange } from './domain/lifecycle.ts';
import { incidentStore, lockWithConfiguration } from './store/incident-store.ts';
import { authorOf, saveIncident, saveOptimistically } from './save-incident.ts';
import { checkReferences, newReferences } from './references.ts';
import { type Attempt, type CommandDependencies, type CommandOutcome, runCommand } from './run-command.ts';
import type { KeptIncidents } from './store/optimistic-update.ts';

export interface UpdateDependencies extends CommandDependencies {
  keptIncidents: KeptIncidents;
}

export interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<IncidentProperties>;
  outcome?: CommandOutcome<Incident> | undefined;
}

/**
 * Updates properties of an active incident (contract: Incidents). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateIncident(dependencies: UpdateDependencies, command: UpdateCommand): Promise<Incident> {
  const { principal, id, expectedRevision, changes, outcome } = command;
  const { workspace } = principal;
  const { database, clock, keptIncidents } = dependencies;

  /** Checks changes of an active incident at the expected revision. */
  const checkChanges = (before: Incident, { checkStorage }: Attempt) => {
    checkWritable(before);
    checkRevision(before.revision, expectedRevision);
    if (changesBetween(before, { ...before, ...changes }).length > 0) checkStorage('change');
  };
  return runCommand(dependencies, {
    workspace,
    replicas: newReferences(changes).length > 0 ? ['catalog', 'users'] : [],
    externalId: changes.externalId,
    outcome,
    optimistic: async (attempt) => {
      if (needsLocks(changes)) return undefined;
      const before = await keptIncidents.at(workspace.id, id, expectedRevision);
      if (before === undefined) return undefined;
      try {
        checkChanges(before, attempt);
      } catch (error) {
        if (error instanceof DomainError) return undefined;
        throw error;
      }
      const change = { ...changes, severityMode: severityModeAfter(before, changes) };
      const now = clock.now();
      const after = await saveOptimistically(database, { author: authorOf(command), before, change, now });
      if (after !== undefined) keptIncidents.keep(after);
      return after;
    },
    prepare: async ({ readConfiguration }) => readConfiguration(),
    transaction: async (trx, { prepared: configuration, ...attempt }) => {
      const before =
        changes.status === undefined && changes.severity === undefined
          ? await incidentStore(trx, workspace.id).getForUpdate(id)
          : await lockWithConfiguration(trx, { workspaceId: workspace.id, id, configuration });
      const { statuses, severities } = configuration;
      checkChanges(before, attempt);
      const now = clock.now();
      const severityMode = severityModeAfter(before, changes);
      const status = changes.status === undefined ? {} : statusChange(before, changes.status, { statuses, now });
      if (changes.severity !== undefined) selectEntry(severities, changes.severity, 'severity');
      await checkReferences(trx, {
        workspace,
        references: newReferences(changes, before),
        freshness: attempt.freshness,
      });
      const change = { ...changes, ...status, severityMode };
      return saveIncident({ trx, author: authorOf(command), before, change, now, commit: outcome === undefined });
    },
  });
}

/** Whether changes are checked against other rows, or change them. */
const needsLocks = (changes: UpdateCommand['changes']): boolean =>
  changes.status !== undefined ||
  changes.severity !== undefined ||
  changes.service !== undefined ||
  newReferences(changes).length > 0;

/** A new severity makes the mode manual unless the request gives the mode; the stored severity keeps the mode. */
function severityModeAfter(before: Incident, { severity, severityMode }: Partial<Incident>): Incident['severityMode'] {
  if (severityMode !== undefined) return severityMode;
  return severity === undefined || severity === before.severity ? before.severityMode : 'manual';
}
