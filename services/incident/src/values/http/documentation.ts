import type { Documentation } from '@tocsin/http';
import type { contracts } from '../../http/contracts.ts';
import { params, valueExample } from '../../http/examples.ts';

type Operation = 'listIncidentCustomFields' | 'updateIncidentCustomFields' | 'deleteIncidentCustomField';

/** contract: Custom fields */
export const valueOperations: Pick<Documentation<typeof contracts>, Operation> = {
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
