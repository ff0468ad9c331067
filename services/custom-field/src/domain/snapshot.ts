import type { CustomFieldDefinition } from '@tocsin/contracts';
import type { Field } from './field.ts';

/** The form of a definition in events and replicas (contract: Events on the broker). */
export function definitionSnapshot(field: Field): CustomFieldDefinition {
  return {
    id: field.id,
    revision: field.revision,
    name: field.name,
    slug: field.slug,
    field_type: field.fieldType,
    ...(field.defaultValue !== null && { default_value: field.defaultValue }),
    ...(field.config !== null && { config: field.config }),
    required: field.required,
    required_on_creation: field.requiredOnCreation,
    sort_order: field.sortOrder,
    created_at: field.createdAt,
    archived_at: field.archivedAt,
  };
}
