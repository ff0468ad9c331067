import type { FieldConfig } from '@tocsin/contracts';
import type { FieldProperties } from '../domain/field.ts';

/** What a request may say of a definition, by the names on the wire; validated already. */
export interface WireProperties {
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
}

/** The properties that a request names, in the form that is kept; the others are left out. */
export function propertiesOf(wire: WireProperties): Partial<FieldProperties> {
  const named = {
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
  };
  return Object.fromEntries(Object.entries(named).filter(([, value]) => value !== undefined));
}
