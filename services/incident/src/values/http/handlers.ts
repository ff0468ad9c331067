import type { CommandDependencies } from '../../incidents/run-command.ts';
import { incidentStore } from '../../incidents/store/incident-store.ts';
import { listValues } from '../store/value-store.ts';
import { currentFields, type IncidentValues, setValues, unsetValue } from '../set-values.ts';
import type { CustomFieldValueWire } from './wire.ts';
import type { ValueApi } from './contracts.ts';

export const valueHandlers = (dependencies: CommandDependencies): ValueApi => ({
  listIncidentCustomFields: async ({ principal: { workspace }, params: { id } }) => {
    const incident = await incidentStore(dependencies.database, workspace.id).get(id);
    const fields = await currentFields(dependencies, workspace);
    const values = await listValues(dependencies.database, workspace.id, incident.id);
    return { body: { values: valuesView({ values, fields }) } };
  },

  updateIncidentCustomFields: async ({ principal, requestId, params: { id }, body: { values } }) => ({
    body: { values: valuesView(await setValues(dependencies, { principal, requestId, incidentId: id, values })) },
  }),

  deleteIncidentCustomField: async ({ principal, requestId, params: { id, fieldId } }) => ({
    body: { values: valuesView(await unsetValue(dependencies, { principal, requestId, incidentId: id, fieldId })) },
  }),
});

/** Returns the values of an incident, including those of archived fields. */
function valuesView({ values, fields }: IncidentValues): CustomFieldValueWire[] {
  const valuesByField = new Map(values.map((value) => [value.fieldId, value]));
  return fields.all.flatMap(({ id, name }) => {
    const value = valuesByField.get(id);
    if (value === undefined) return [];
    return {
      field_id: id,
      slug: value.slug,
      name,
      field_type: value.fieldType,
      value: value.value,
      updated_at: value.updatedAt,
      updated_by: value.updatedBy,
    };
  });
}
