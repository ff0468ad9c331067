import type { WorkspaceContext } from '@tocsin/contracts';
import { notFound } from '@tocsin/http';
import { changesBetween } from '../incidents/domain/changes.ts';
import type { Fields } from '../replicas/domain/fields.ts';
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
import { bytesOfChanges } from '../incidents/domain/changed-bytes.ts';
import { incidentStore } from '../incidents/store/incident-store.ts';
import { toRecords } from './store/value-row.ts';
import { type StoredValue, valueStore } from './store/value-store.ts';
import type { Caller } from '@tocsin/resources';
import { actorOf, authorOf } from '../incidents/author.ts';
import type { Dependencies } from '../dependencies.ts';
import { checkByReplica } from '../replicas/replicas.ts';
import { saveIncident } from '../incidents/save-incident.ts';

/** The custom-field values of an incident and the definitions of the fields. */
export interface IncidentValues {
  values: StoredValue[];
  fields: Fields;
}

interface ValueCommand extends Caller {
  incidentId: number;
}

/** Returns the workspace's definitions after refreshing the replica. */
export async function currentFields(dependencies: Dependencies, workspace: WorkspaceContext): Promise<Fields> {
  const freshness = await dependencies.replicas.refresh(workspace, 'custom_field');
  return dependencies.fields.get(workspace.id, freshness.get('custom_field')?.version);
}

/**
 * Sets and unsets values of an active incident in one transaction; other values stay (contract: Custom fields).
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` or `unknown_field` naming the property
 */
export async function setValues(
  dependencies: Dependencies,
  command: ValueCommand & { values: readonly ValueInput[] },
): Promise<IncidentValues> {
  return updateValues(dependencies, command, (fields) => valueChanges(fields, command.values));
}

/**
 * Unsets one value of an active incident; does nothing if it is not set.
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` for a required field
 */
export async function unsetValue(
  dependencies: Dependencies,
  command: ValueCommand & { fieldId: number },
): Promise<IncidentValues> {
  return updateValues(dependencies, command, (fields) => {
    const field = fields.find(command.fieldId);
    if (field === undefined) throw notFound('The custom field');
    return [unsetChange(field)];
  });
}

async function updateValues(
  dependencies: Dependencies,
  caller: ValueCommand,
  changesFor: (fields: Fields) => FieldValue[],
): Promise<IncidentValues> {
  const { workspace } = caller.principal;
  // Of the values and of their changelog entry.
  let written = 0;
  const changed = await dependencies.replicas.withFreshReplicas(workspace, ['custom_field'], async (freshness) => {
    // Before the transaction: while a row is locked, no request calls a service or waits for a second connection.
    const fields = await dependencies.fields.get(workspace.id, freshness.get('custom_field')?.version);
    const values = await dependencies.database.transaction(async (trx) => {
      const before = await incidentStore(trx, workspace.id).getForUpdate(caller.incidentId);
      checkWritable(before);
      const requested = await checkByReplica(freshness, 'custom_field', () => changesFor(fields));
      const changes = requested.filter((change) => isChange(before.customFields, change));
      const store = valueStore(trx, workspace.id);
      if (changes.length > 0) {
        const customFields = applyChanges(before.customFields, changes);
        checkTotalSize(customFields, { before: before.customFields, property: 'values' });
        const bytes = bytesOfChanges(changesBetween(before, { ...before, customFields }));
        dependencies.storage.check(workspace, { kind: 'addition', growth: bytes.growth });
        written = bytes.written;
        const now = dependencies.clock.now();
        const set = changes.filter(({ value }) => value !== null);
        const unset = changes.filter(({ value }) => value === null);
        await store.put(before.id, toRecords(set, { at: now, by: actorOf(caller) }));
        await store.remove(
          before.id,
          unset.map(({ field }) => field.id),
        );
        await saveIncident({ trx, author: authorOf(caller), before, change: { customFields }, now });
      }
      return store.list(before.id);
    });
    return { values, fields };
  });
  dependencies.storage.add(workspace.id, { bytes: written });
  dependencies.wakeRelay();
  return changed;
}
