import type { Documentation } from '@tocsin/http';
import type { z } from 'zod';
import { params } from '../../incidents/http/examples.ts';
import type { valueContracts } from './contracts.ts';
import type { customFieldValue } from './wire.ts';

const valueExample: z.input<typeof customFieldValue> = {
  field_id: 2,
  slug: 'affected_orders',
  name: 'Affected orders',
  field_type: 'number',
  value: 1200,
  updated_at: '2026-11-20T09:33:00.000Z',
  updated_by: '1',
};

/** contract: Custom fields */
export const valueOperations: Documentation<typeof valueContracts> = {
  listIncidentCustomFields: {
    description: "Returns an incident's values, those of archived fields included, in the order of the fields.",
    params,
    reply: { values: [valueExample] },
  },
  updateIncidentCustomFields: {
    description:
      'Sets the values that the body contains, all or none of them, and leaves the others as they are. A field is named by its ID or its slug; null unsets a value. Values are read back equal to what was written.',
    params,
    body: {
      values: [
        { slug: 'affected_orders', value: 1200 },
        { field_id: 1, value: null },
      ],
    },
    reply: { values: [valueExample] },
  },
  deleteIncidentCustomField: {
    description: 'Unsets the value of one field. A required field cannot be unset.',
    params: { ...params, fieldId: 2 },
    reply: { values: [] },
  },
};
