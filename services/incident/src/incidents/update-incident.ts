import { checkRevision, type KeyedOutcome } from '@tocsin/http';
import type { Caller } from '@tocsin/versioned-resources';
import { type Configuration, selectEntry } from '../configuration/domain/configuration.ts';
import { changesBetween } from './domain/changes.ts';
import type { Incident, IncidentProperties } from './domain/incident.ts';
import { checkWritable, statusChange } from './domain/lifecycle.ts';
import { checkHolders, holdersAfter } from './domain/role-holders.ts';
import { incidentStore, lockWithConfiguration } from './store/incident-store.ts';
import { authorOf, changeIncident } from './save-incident.ts';
import { checkReferences, newReferences, refusalOf } from './references.ts';
import { type CommandDependencies, runCommand } from './run-command.ts';
import type { KeptIncidents } from './optimistic-change.ts';

export interface UpdateDependencies extends CommandDependencies {
  keptIncidents: KeptIncidents;
}

export interface UpdateCommand extends Caller {
  id: number;
  expectedRevision: number;
  changes: Partial<IncidentProperties>;
  outcome?: KeyedOutcome<Incident> | undefined;
}

interface ReadIncident {
  before: Incident;
  /** Undefined if only properties change that do not depend on it. */
  configuration?: Configuration;
  /** What refuses the references of the request. */
  refusal?: Error;
}

/**
 * Updates properties of an active incident (contract: Incidents). Values equal to the stored ones change nothing.
 * @throws DomainError `not_found`, `invalid_resource_state`, `precondition_failed`, `invalid_request`, in this order
 */
export async function updateIncident(dependencies: UpdateDependencies, command: UpdateCommand): Promise<Incident> {
  const { principal, id, expectedRevision, changes, outcome } = command;
  const { workspace } = principal;
  return runCommand<Incident, ReadIncident, Configuration>(dependencies, {
    workspace,
    replicas: newReferences(changes).length > 0 ? ['catalog', 'users'] : [],
    externalId: changes.externalId,
    outcome,
    optimistic: needsLocks(changes)
      ? undefined
      : async (decide) => {
          const version = { workspaceId: workspace.id, id, revision: expectedRevision };
          return dependencies.keptIncidents.change(version, (before) => decide({ before }));
        },
    prepares: async ({ readConfiguration }) => readConfiguration(),
    reads: async (trx, { prepared: configuration, freshness }) => {
      const before =
        changes.status === undefined && changes.severity === undefined && changes.roles === undefined
          ? await incidentStore(trx, workspace.id).getForUpdate(id)
          : await lockWithConfiguration(trx, { workspaceId: workspace.id, id, configuration });
      const references = newReferences(changes, before);
      return {
        before,
        configuration,
        ...(await refusalOf(checkReferences(trx, { workspace, references, freshness }))),
      };
    },
    decides: ({ before, configuration, refusal }, { checkStorage, now }) => {
      checkWritable(before);
      checkRevision(before.revision, expectedRevision);
      const { statuses = [], severities = [], incidentRoles = [] } = configuration ?? {};
      const roles = changes.roles && { roles: holdersAfter(before.roles, changes.roles) };
      if (changesBetween(before, { ...before, ...changes, ...roles }).length > 0) checkStorage('change');
      const status = changes.status === undefined ? {} : statusChange(before, changes.status, { statuses, now });
      if (changes.severity !== undefined) selectEntry(severities, changes.severity, 'severity');
      if (changes.roles !== undefined) checkHolders(changes.roles, before.roles, incidentRoles);
      if (refusal !== undefined) throw refusal;
      const change = { ...changes, ...roles, ...status, severityMode: severityModeAfter(before, changes) };
      const { after, statements } = changeIncident({ author: authorOf(command), before, change, now });
      return { stores: statements, answer: () => after };
    },
  });
}

/** Whether changes are checked against other rows, or change them. */
const needsLocks = (changes: UpdateCommand['changes']): boolean =>
  changes.status !== undefined ||
  changes.severity !== undefined ||
  changes.roles !== undefined ||
  changes.service !== undefined ||
  changes.restricted !== undefined ||
  newReferences(changes).length > 0;

/** A new severity makes the mode manual unless the request gives the mode; the stored severity keeps the mode. */
function severityModeAfter(before: Incident, { severity, severityMode }: Partial<Incident>): Incident['severityMode'] {
  if (severityMode !== undefined) return severityMode;
  return severity === undefined || severity === before.severity ? before.severityMode : 'manual';
}
