import type { FieldConfig, FieldType } from '@tocsin/contracts';
import { wrongState } from '@tocsin/http';
import type { Instant } from '@tocsin/runtime';

export const CATEGORIES = ['context', 'impact', 'analysis', 'external', 'custom'] as const;
export const VISIBILITY_LEVELS = ['always', 'prominent', 'standard', 'collapsed'] as const;

/** What a client sets at creation or by PATCH. Null means "none". */
export interface FieldProperties {
  name: string;
  description: string | null;
  defaultValue: unknown;
  config: FieldConfig | null;
  /** An incident's value of it cannot be unset. */
  required: boolean;
  sortOrder: number;
  category: (typeof CATEGORIES)[number];
  visibilityLevel: (typeof VISIBILITY_LEVELS)[number];
  showOnCreation: boolean;
  /** Whoever declares an incident must supply it. */
  requiredOnCreation: boolean;
  autoAddToLayout: boolean;
  externalSource: string | null;
}

/** The definition of a custom field as it is kept (contract: Custom fields). */
export interface Field extends FieldProperties {
  id: number;
  workspaceId: number;
  revision: number;
  slug: string;
  fieldType: FieldType;
  createdAt: Instant;
  updatedAt: Instant;
  archivedAt: Instant | null;
}

/** A definition before the database has given it its ID. */
export type NewField = Omit<Field, 'id'>;

/** What a definition is that nobody said anything about. */
export const BLANK = {
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
} as const satisfies Partial<FieldProperties>;

/** @throws DomainError `invalid_resource_state` for an archived one */
export function checkWritable({ archivedAt }: Field): void {
  if (archivedAt !== null) throw wrongState('The custom field is archived');
}

/** @throws DomainError `invalid_resource_state` for one that is archived already */
export function archive(field: Field, now: Instant): Field {
  checkWritable(field);
  return { ...field, archivedAt: now, updatedAt: now, revision: field.revision + 1 };
}

/** @throws DomainError `invalid_resource_state` for one that is not archived */
export function restore(field: Field, now: Instant): Field {
  if (field.archivedAt === null) throw wrongState('The custom field is not archived');
  return { ...field, archivedAt: null, updatedAt: now, revision: field.revision + 1 };
}
