import type { Field } from '../domain/field.ts';
import type { FieldWire } from './wire.ts';

/** The representation of a definition in responses. */
export function fieldView(field: Field): FieldWire {
  return {
    id: field.id,
    revision: field.revision,
    company_id: field.workspaceId,
    name: field.name,
    slug: field.slug,
    field_type: field.fieldType,
    ...(field.description !== null && { description: field.description }),
    ...(field.defaultValue !== null && { default_value: field.defaultValue }),
    ...(field.config !== null && { config: field.config }),
    required: field.required,
    sort_order: field.sortOrder,
    category: field.category,
    visibility_level: field.visibilityLevel,
    show_on_creation: field.showOnCreation,
    required_on_creation: field.requiredOnCreation,
    auto_add_to_layout: field.autoAddToLayout,
    ...(field.externalSource !== null && { external_source: field.externalSource }),
    ...(field.externalId !== null && { external_id: field.externalId }),
    ...(field.archivedAt !== null && { archived_at: field.archivedAt }),
    created_at: field.createdAt,
    updated_at: field.updatedAt,
  };
}
