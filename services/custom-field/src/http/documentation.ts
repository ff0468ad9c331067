import type { Documentation } from '@tocsin/http';
import type { contracts } from './contracts.ts';
import type { FieldWire } from './wire.ts';

const field: FieldWire = {
  id: 3,
  revision: 1,
  company_id: 1,
  name: 'Customers affected',
  slug: 'customers_affected',
  field_type: 'number',
  description: 'As far as it is known; an estimate is fine',
  default_value: 0,
  config: { min: 0, precision: 0 },
  required: false,
  sort_order: 1,
  category: 'impact',
  visibility_level: 'prominent',
  show_on_creation: true,
  required_on_creation: false,
  auto_add_to_layout: true,
  created_at: '2026-11-02T08:00:00.000Z',
  updated_at: '2026-11-19T16:20:00.000Z',
};

/** Fields of the sample workspace. */
const rootCause: FieldWire = {
  ...field,
  id: 1,
  name: 'Root cause',
  slug: 'root_cause',
  field_type: 'select',
  description: '',
  default_value: null,
  config: { options: ['change', 'capacity', 'dependency'] },
  category: 'analysis',
};
const affectedOrders: FieldWire = { ...field, id: 2, name: 'Affected orders', slug: 'affected_orders' };
const DESCRIPTION = 'What made the incident possible';

/** Descriptions and examples of the operations on definitions, for the API description (contract: Custom fields). */
export const documentation: Documentation<typeof contracts> = {
  listCustomFields: {
    description: 'Returns the definitions, ordered by `sort_order`, then by creation.',
    reply: { fields: [rootCause], pagination: { limit: 50, has_more: false } },
  },
  createCustomField: {
    description:
      'Defines a field of the incidents of the workspace. `name` and `field_type` are required; the type and the slug are permanent. Which options `config` may have depends on the type.',
    body: {
      name: 'Customers affected',
      slug: 'customers_affected',
      field_type: 'number',
      config: { min: 0, precision: 0 },
      default_value: 0,
      category: 'impact',
      show_on_creation: true,
    },
    reply: { field },
  },
  getCustomField: {
    description: 'Returns a definition, archived ones included.',
    params: { id: 1 },
    reply: { field: rootCause },
  },
  updateCustomField: {
    description:
      'Changes the properties that the body contains. `If-Service-Resource-Version` must be the current revision. Values that incidents have already are not checked again.',
    params: { id: 1 },
    revision: 1,
    body: { description: DESCRIPTION, sort_order: 2 },
    reply: { field: { ...rootCause, revision: 2, description: DESCRIPTION, sort_order: 2 } },
  },
  archiveCustomField: {
    description: 'Archives a definition: values of incidents can be read, and no longer be written.',
    params: { id: 2 },
    reply: { field: { ...affectedOrders, revision: 2, archived_at: '2026-11-25T10:00:00.000Z' } },
  },
  restoreCustomField: {
    description: 'Restores an archived definition.',
    params: { id: 2 },
    reply: { field: { ...affectedOrders, revision: 3 } },
  },
};
