import { notFound, type WorkspaceContext } from '@tocsin/http';
import type { Fields } from '../domain/fields.ts';
import { checkWritable } from '../domain/lifecycle.ts';
import { type FieldValue, type GivenValue, isChange, unsetting, valueChanges, withValues } from '../domain/values.ts';
import { incidentStore } from '../store/incident-store.ts';
import { toRecord } from '../store/value-row.ts';
import { type StoredValue, valueStore } from '../store/value-store.ts';
import { actorOf, authorOf, type Caller, type Tools } from './context.ts';
import { judge, type Standing } from './replicas.ts';
import { saveIncident } from './save-incident.ts';

/** The custom-field values of an incident, with the definitions that they go by. */
export interface IncidentValues {
  values: StoredValue[];
  fields: Fields;
}

interface ValueCommand extends Caller {
  incidentId: number;
}

/** The workspace's definitions, everything included that was answered to their authors before; or how late they may be. */
export async function currentFields(
  tools: Tools,
  workspace: WorkspaceContext,
): Promise<{ fields: Fields; standing: Standing }> {
  const standing = await tools.replicas.refresh(workspace, 'custom_field');
  return { fields: await tools.fields.get(workspace.id, standing.get('custom_field')), standing };
}

/**
 * Sets and unsets some values of an active incident, all or none of them; the others stay (contract: Custom fields).
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` or `unknown_field` naming the property
 */
export async function setValues(
  tools: Tools,
  command: ValueCommand & { values: readonly GivenValue[] },
): Promise<IncidentValues> {
  return changeValues(tools, command, (fields) => valueChanges(fields, command.values));
}

/**
 * Unsets one value of an active incident, if there is one.
 * @throws DomainError `not_found`, `invalid_resource_state`; `invalid_request` for a field that must keep its value
 */
export async function unsetValue(tools: Tools, command: ValueCommand & { fieldId: number }): Promise<IncidentValues> {
  return changeValues(tools, command, (fields) => {
    const field = fields.find(command.fieldId);
    if (field === undefined) throw notFound('The custom field');
    return [unsetting(field)];
  });
}

async function changeValues(
  tools: Tools,
  caller: ValueCommand,
  rule: (fields: Fields) => FieldValue[],
): Promise<IncidentValues> {
  const { workspace } = caller.principal;
  // Before the transaction: while a row is locked, no call to another service and no wait for a second connection.
  const { fields, standing } = await currentFields(tools, workspace);
  const values = await tools.database.transaction(async (trx) => {
    const before = await incidentStore(trx, workspace.id).getForUpdate(caller.incidentId);
    checkWritable(before);
    const judged = await judge(standing, 'custom_field', () => rule(fields));
    const changes = judged.filter((change) => isChange(before.customFields, change));
    const store = valueStore(trx, workspace.id);
    if (changes.length > 0) {
      const now = tools.clock.now();
      const set = changes.filter(({ value }) => value !== null);
      const unset = changes.filter(({ value }) => value === null);
      await store.put(
        before.id,
        set.map((value) => toRecord(value, { at: now, by: actorOf(caller) })),
      );
      await store.remove(
        before.id,
        unset.map(({ field }) => field.id),
      );
      const customFields = withValues(before.customFields, changes);
      await saveIncident({ trx, author: authorOf(caller), before, change: { customFields }, now });
    }
    return store.list(before.id);
  });
  tools.wakeRelay();
  return { values, fields };
}
