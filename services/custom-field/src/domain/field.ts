import type { CustomFieldDefinition, FieldConfig, FieldType } from '@tocsin/schemas';
import type { SlugRule, StoredResource } from '@tocsin/versioned-resources';

export const CATEGORIES = ['context', 'impact', 'analysis', 'external', 'custom'] as const;
export const VISIBILITY_LEVELS = ['always', 'prominent', 'standard', 'collapsed'] as const;

/** The properties that a client sets in a create or a PATCH. Null means that there is no value. */
export interface FieldProperties {
  name: string;
  description: string | null;
  defaultValue: unknown;
  config: FieldConfig | null;
  /** A value of an incident cannot be removed. */
  required: boolean;
  sortOrder: number;
  category: (typeof CATEGORIES)[number];
  visibilityLevel: (typeof VISIBILITY_LEVELS)[number];
  showOnCreation: boolean;
  /** A request that creates an incident must contain a value. */
  requiredOnCreation: boolean;
  autoAddToLayout: boolean;
  externalSource: string | null;
  externalId: string | null;
}

/** A stored definition of a custom field (contract: Custom fields). */
export interface Field extends FieldProperties, StoredResource {
  name: string;
  externalId: string | null;
  fieldType: FieldType;
}

/** The values of the properties that a create request does not contain. */
export const DEFAULT_PROPERTIES = {
  description: null,
  defaultValue: null,
  config: null,
  required: false,
  category: 'custom',
  visibilityLevel: 'standard',
  showOnCreation: false,
  requiredOnCreation: false,
  autoAddToLayout: false,
  externalSource: null,
  externalId: null,
} as const satisfies Partial<FieldProperties>;

/** A given slug may contain hyphens; a generated one has only underscores. */
export const FIELD_SLUG: SlugRule = {
  pattern: /^[a-z][a-z0-9_-]*$/,
  firstCharacter: /[a-z]/,
  separators: /[^a-z0-9]+/g,
};

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
