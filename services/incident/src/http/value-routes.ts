import { pathId, route } from '@tocsin/http';
import { z } from 'zod';
import { incidentStore } from '../store/incident-store.ts';
import { valueStore } from '../store/value-store.ts';
import type { Tools } from '../usecases/context.ts';
import { currentFields, type IncidentValues, setValues, unsetValue } from '../usecases/set-values.ts';
import { type CustomFieldValueWire, valuesPatch, valuesReply } from './value-wire.ts';

const COLLECTION = '/api/v1/incidents/{id}/custom-fields';

const tag = 'Custom fields';
const write = { tag, scope: 'custom_fields:write', needs: ['active_responder', 'mutable_incident'] } as const;
const params = z.strictObject({ id: pathId });
const reply = { status: 200, body: valuesReply } as const;

export function valueRoutes({ tools }: { tools: Tools }) {
  return [
    route({
      id: 'listIncidentCustomFields',
      method: 'get',
      path: COLLECTION,
      summary: "An incident's custom-field values, in the fields' display order",
      tag,
      scope: 'custom_fields:read',
      params,
      reply,
      handle: async ({ principal: { workspace }, params: { id } }) => {
        const incident = await incidentStore(tools.database, workspace.id).get(id);
        const { fields } = await currentFields(tools, workspace);
        const values = await valueStore(tools.database, workspace.id).list(incident.id);
        return { body: { values: valuesView({ values, fields }) } };
      },
    }),
    route({
      ...write,
      id: 'updateIncidentCustomFields',
      method: 'patch',
      path: COLLECTION,
      summary: 'Set or unset some custom-field values of an active incident, all or none of them',
      params,
      body: valuesPatch,
      reply,
      handle: async ({ principal, requestId, params: { id }, body: { values } }) => ({
        body: { values: valuesView(await setValues(tools, { principal, requestId, incidentId: id, values })) },
      }),
    }),
    route({
      ...write,
      id: 'deleteIncidentCustomField',
      method: 'delete',
      path: `${COLLECTION}/{fieldId}`,
      summary: 'Unset a custom-field value of an active incident',
      params: params.extend({ fieldId: pathId }),
      reply,
      handle: async ({ principal, requestId, params: { id, fieldId } }) => ({
        body: { values: valuesView(await unsetValue(tools, { principal, requestId, incidentId: id, fieldId })) },
      }),
    }),
  ];
}

/** The values that an incident holds, those of archived fields included. */
function valuesView({ values, fields }: IncidentValues): CustomFieldValueWire[] {
  const held = new Map(values.map((value) => [value.fieldId, value]));
  return fields.all.flatMap(({ id, name }) => {
    const value = held.get(id);
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
