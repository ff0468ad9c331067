import type { FieldConfig, FieldType } from '@tocsin/contracts';
import type { Resource } from '@tocsin/resources';

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
export interface Field extends FieldProperties, Resource {
  id: number;
  workspaceId: number;
  slug: string;
  fieldType: FieldType;
}

/** A definition that has no ID yet. */
export type NewField = Omit<Field, 'id'>;

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
