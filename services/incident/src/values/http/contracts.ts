import { type Contracts, endpoint, type Handlers, pathId } from '@tocsin/http';
import { INCIDENT, params, write } from '../../incidents/http/contracts.ts';
import { valuesPatch, valuesReply } from './wire.ts';

const VALUES = `${INCIDENT}/custom-fields`;
const writeValues = { scope: 'custom_fields:write', needs: write.needs } as const;
const values = { status: 200, body: valuesReply } as const;

/** contract: Custom fields */
export const valueContracts = {
  listIncidentCustomFields: {
    ...endpoint('GET', VALUES, "List an incident's custom-field values"),
    tag: 'Custom fields',
    scope: 'custom_fields:read',
    params,
    reply: values,
  },
  updateIncidentCustomFields: {
    ...endpoint('PATCH', VALUES, "Update an incident's custom-field values"),
    tag: 'Custom fields',
    ...writeValues,
    params,
    body: valuesPatch,
    reply: values,
  },
  deleteIncidentCustomField: {
    ...endpoint('DELETE', `${VALUES}/{fieldId}`, "Delete one of an incident's custom-field values"),
    tag: 'Custom fields',
    ...writeValues,
    params: params.extend({ fieldId: pathId.meta({ description: 'ID of the custom field' }) }),
    reply: values,
  },
} as const satisfies Contracts;

export type ValueApi = Handlers<typeof valueContracts>;
