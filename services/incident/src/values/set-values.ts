/**
 * `values` is the values that incidents have of custom fields (contract: Custom fields). Another service owns the
 * definitions, and this one has a replica of them; before it refuses a value, that service is asked. One transaction
 * locks the incident, checks all values of the request (`domain/values.ts`), and writes those that differ, with the
 * incident's revision, its changelog entry and its event: all or none. A value that the field no longer accepts may be
 * written again as it is. Values of archived fields stay readable and cannot be written, and required ones cannot be
 * unset. The size of all values of an incident is bounded. Creates and imports check values by the same functions.
 */
import type { WorkspaceContext } from '@tocsin/schemas';
import { notFound } from '@tocsin/http';
import type { Statement } from '@tocsin/postgres';
import type { Caller } from '@tocsin/versioned-resources';
import type { Fields } from '../replicas/domain/fields.ts';
import type { Incident } from '../incidents/domain/incident.ts';
import { checkWritable } from '../incidents/domain/lifecycle.ts';
import {
  type FieldValue,
  type ValueInput,
  checkTotalSize,
  isChange,
  unsetChange,
  valueChanges,
  applyChanges,
} from './domain/values.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { selectValues, type StoredValue, valueStatements } from './store/value-store.ts';
import { actorOf, authorOf, changeIncident } from '../incidents/save-incident.ts';
import { type CommandDependencies, runCommand } from '../incidents/run-command.ts';
import { checkByReplica } from '../replicas/replicas.ts';

/** The custom-field values of an incident and the definitions of the fields. */
export interface IncidentValues {
  values: StoredValue[];
  fields: Fields;
}

interface ValueCommand extends Caller {
  incidentId: number;
}

/** Returns the workspace's definitions after refreshing the replica. */
export async function currentFields(dependencies: CommandDependencies, workspace: WorkspaceContext): Promise<Fields> {
  const freshness = await dependencies.replicas.refresh(workspace, 'custom_field');
  return dependencies.replicas.fields.get(workspace.id, freshness.get('custom_field')?.version);
}

/**
 * Sets and unsets values of an active incident in one transaction; other values stay (contract: Custom fields).
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` or `unknown_field` naming the property
 */
export async function setValues(
  dependencies: CommandDependencies,
  command: ValueCommand & { values: readonly ValueInput[] },
): Promise<IncidentValues> {
  return updateValues(dependencies, command, (fields, stored) => valueChanges(fields, command.values, stored));
}

/**
 * Unsets one value of an active incident; does nothing if it is not set.
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` for a required field
 */
export async function unsetValue(
  dependencies: CommandDependencies,
  command: ValueCommand & { fieldId: number },
): Promise<IncidentValues> {
  return updateValues(dependencies, command, (fields, stored) => {
    const field = fields.find(command.fieldId);
    if (field === undefined) throw notFound('The custom field');
    return [unsetChange(field, stored)];
  });
}

async function updateValues(
  dependencies: CommandDependencies,
  caller: ValueCommand,
  changesFor: (fields: Fields, stored: Incident['customFields']) => FieldValue[],
): Promise<IncidentValues> {
  const { workspace } = caller.principal;
  return runCommand(dependencies, {
    workspace,
    replicas: ['custom_field'],
    prepares: async ({ freshness }) =>
      dependencies.replicas.fields.get(workspace.id, freshness.get('custom_field')?.version),
    reads: async (trx) => incidentStore(trx, workspace.id).getForUpdate(caller.incidentId),
    decides: (before, { prepared: fields, freshness, checkStorage, now }) => {
      checkWritable(before);
      const requested = checkByReplica(freshness, 'custom_field', () => changesFor(fields, before.customFields));
      const changes = requested.filter((change) => isChange(before.customFields, change));
      const stores: Statement[] = [];
      if (changes.length > 0) {
        const customFields = applyChanges(before.customFields, changes);
        checkTotalSize(customFields, { before: before.customFields, property: 'values' });
        // Unsetting values only makes room.
        if (changes.some(({ value }) => value !== null)) checkStorage('addition');
        const changed = { incidentId: before.id, values: changes, at: now, by: actorOf(caller) };
        const { statements } = changeIncident({ author: authorOf(caller), before, change: { customFields }, now });
        stores.push(...valueStatements(workspace.id, [changed]), ...statements);
      }
      return {
        stores: [...stores, selectValues(workspace.id, before.id)],
        answer: (rows) => ({ values: rows.at(-1) as StoredValue[], fields }),
      };
    },
  });
}
