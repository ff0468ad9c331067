import type { FieldType } from '@tocsin/contracts';
import type { Instant } from '@tocsin/runtime';
import type { Field, NewField } from '../domain/field.ts';

/** A row of `definitions`. */
export interface FieldRow {
  id: number;
  workspace_id: number;
  revision: number;
  name: string;
  slug: string;
  field_type: FieldType;
  description: string | null;
  default_value: unknown;
  config: Field['config'];
  required: boolean;
  sort_order: number;
  category: Field['category'];
  visibility_level: Field['visibilityLevel'];
  show_on_creation: boolean;
  required_on_creation: boolean;
  auto_add_to_layout: boolean;
  external_source: string | null;
  created_at: Instant;
  updated_at: Instant;
  archived_at: Instant | null;
}

/** Which column holds which property. */
const COLUMN_OF = {
  id: 'id',
  workspaceId: 'workspace_id',
  revision: 'revision',
  name: 'name',
  slug: 'slug',
  fieldType: 'field_type',
  description: 'description',
  defaultValue: 'default_value',
  config: 'config',
  required: 'required',
  sortOrder: 'sort_order',
  category: 'category',
  visibilityLevel: 'visibility_level',
  showOnCreation: 'show_on_creation',
  requiredOnCreation: 'required_on_creation',
  autoAddToLayout: 'auto_add_to_layout',
  externalSource: 'external_source',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
  archivedAt: 'archived_at',
} as const satisfies Record<keyof Field, keyof FieldRow>;

export const FIELD_COLUMNS = Object.values(COLUMN_OF);

const JSON_COLUMNS: ReadonlySet<string> = new Set(['default_value', 'config']);
const PROPERTIES = Object.entries(COLUMN_OF) as [keyof Field, keyof FieldRow][];

export function toField(row: FieldRow): Field {
  return Object.fromEntries(PROPERTIES.map(([property, column]) => [property, row[column]])) as unknown as Field;
}

/** Column names and bindable values; without an ID where there is none yet. */
export function toColumns(field: NewField & Partial<Pick<Field, 'id'>>): Partial<Record<keyof FieldRow, unknown>> {
  return Object.fromEntries(
    PROPERTIES.filter(([property]) => field[property] !== undefined).map(([property, column]) => {
      const value = field[property];
      return [column, JSON_COLUMNS.has(column) && value !== null ? JSON.stringify(value) : value];
    }),
  );
}
