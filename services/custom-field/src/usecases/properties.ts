import type { FieldConfig } from '@tocsin/contracts';
import { definedProperties } from '@tocsin/resources';
import type { FieldProperties } from '../domain/field.ts';

/** The properties of a definition in a validated request, with their wire names. */
export interface WireField {
  name?: string | undefined;
  description?: string | null | undefined;
  default_value?: unknown;
  config?: FieldConfig | null | undefined;
  required?: boolean | undefined;
  sort_order?: number | undefined;
  category?: FieldProperties['category'] | undefined;
  visibility_level?: FieldProperties['visibilityLevel'] | undefined;
  show_on_creation?: boolean | undefined;
  required_on_creation?: boolean | undefined;
  auto_add_to_layout?: boolean | undefined;
  external_source?: string | null | undefined;
  external_id?: string | null | undefined;
}

/** Returns the properties that a request contains, in the form in which they are stored. */
export function fieldProperties(wire: WireField): Partial<FieldProperties> {
  return definedProperties<FieldProperties>({
    name: wire.name?.trim(),
    description: wire.description,
    defaultValue: wire.default_value,
    config: wire.config,
    required: wire.required,
    sortOrder: wire.sort_order,
    category: wire.category,
    visibilityLevel: wire.visibility_level,
    showOnCreation: wire.show_on_creation,
    requiredOnCreation: wire.required_on_creation,
    autoAddToLayout: wire.auto_add_to_layout,
    externalSource: wire.external_source === null ? null : wire.external_source?.trim(),
    externalId: wire.external_id?.trim() ?? wire.external_id,
  });
}
