import { type Contracts, endpoint, pathId } from '@tocsin/http';
import { resourceListQuery } from '@tocsin/versioned-resources';
import { z } from 'zod';
import { fieldPage, fieldPatch, fieldReply, newField } from './wire.ts';

const FIELDS = '/api/v1/custom-fields';
const FIELD = `${FIELDS}/{id}`;

const read = { tag: 'Custom fields', scope: 'custom_fields:read' } as const;
const write = { tag: 'Custom fields', scope: 'custom_fields:write', needs: ['manage_settings'] } as const;
/** Fails in a state of the definition that does not allow the operation. */
const change = { ...write, errors: ['invalid_resource_state'] } as const;
const params = z.strictObject({ id: pathId.meta({ description: 'ID of the definition' }) });
const reply = { status: 200, body: fieldReply, versioned: true } as const;
const created = { ...reply, status: 201, assigned: ['field.id'] } as const;

/** The API of the custom-field service (contract: Custom fields). */
export const contracts = {
  listCustomFields: {
    ...endpoint('GET', FIELDS, 'List custom-field definitions'),
    ...read,
    query: resourceListQuery,
    reply: { status: 200, body: fieldPage },
  },
  createCustomField: {
    ...endpoint('POST', FIELDS, 'Create a custom-field definition'),
    ...write,
    errors: ['duplicate_slug', 'invalid_resource_state'],
    body: newField,
    reply: created,
  },
  getCustomField: { ...endpoint('GET', FIELD, 'Get a custom-field definition'), ...read, params, reply },
  updateCustomField: {
    ...endpoint('PATCH', FIELD, 'Update a custom-field definition'),
    ...change,
    params,
    precondition: true,
    body: fieldPatch,
    reply,
  },
  archiveCustomField: { ...endpoint('DELETE', FIELD, 'Archive a custom-field definition'), ...change, params, reply },
  restoreCustomField: {
    ...endpoint('POST', `${FIELD}/restore`, 'Restore an archived custom-field definition'),
    ...change,
    params,
    reply,
  },
} as const satisfies Contracts;
