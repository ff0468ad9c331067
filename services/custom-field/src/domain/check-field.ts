import {
  findConfigViolation,
  findValueViolation,
  jsonBytes,
  MAX_DEFINITION_BYTES,
  type Violation,
  violationField,
} from '@tocsin/schemas';
import { DomainError, invalidRequest, jsonEqual } from '@tocsin/http';
import type { Field } from './field.ts';

/** The properties without a small limit of their own, and the texts that go with them. */
type SizedProperties = Pick<Field, 'name' | 'description' | 'config' | 'defaultValue' | 'externalSource'>;
type CheckedProperties = SizedProperties &
  Pick<Field, 'fieldType' | 'showOnCreation' | 'requiredOnCreation' | 'category'>;

/**
 * Checks that the properties of a new or changed definition are consistent with each other (contract: Custom fields).
 * @param before the stored definition; what it has and a change keeps may be larger than the limits
 * @throws DomainError `unknown_field` for a config key that the type does not have; `invalid_request` naming the property
 */
export function checkField(field: CheckedProperties, before?: CheckedProperties): void {
  const config = field.config ?? undefined;
  throwViolation('config', findConfigViolation(field.fieldType, config));
  checkSize(field, before);
  if (field.defaultValue !== null && !(before !== undefined && hasSameDefault(field, before))) {
    const violation = findValueViolation({ field_type: field.fieldType, config }, field.defaultValue);
    throwViolation('default_value', violation);
  }
  if (field.requiredOnCreation && !field.showOnCreation) {
    throw invalidRequest('required_on_creation', 'Is only allowed with show_on_creation');
  }
  if (field.category === 'external' && field.externalSource === null) {
    throw invalidRequest('external_source', 'Is required for a field of the category external');
  }
  if (field.category !== 'external' && field.externalSource !== null) {
    throw invalidRequest('external_source', 'Is only allowed for a field of the category external');
  }
}

const hasSameDefault = (field: CheckedProperties, before: CheckedProperties) =>
  jsonEqual(field.defaultValue, before.defaultValue) && jsonEqual(field.config, before.config);

/** @throws DomainError `invalid_request` naming the largest property of a definition that has become too large */
function checkSize(field: SizedProperties, before: SizedProperties | undefined): void {
  const bytes = sizeOf(field);
  if (bytes <= MAX_DEFINITION_BYTES || (before !== undefined && bytes <= sizeOf(before))) return;
  const { config, defaultValue, description } = field;
  const [largest] = Object.entries({ config, default_value: defaultValue, description })
    .map(([property, value]) => ({ property, size: jsonBytes(value) }))
    .toSorted((a, b) => b.size - a.size);
  throw invalidRequest(
    largest?.property ?? 'config',
    `Must be smaller: a definition must be at most ${MAX_DEFINITION_BYTES} bytes of compact JSON`,
  );
}

const sizeOf = ({ name, description, config, defaultValue, externalSource }: SizedProperties): number =>
  jsonBytes({ name, description, config, defaultValue, externalSource });

function throwViolation(property: string, violation: Violation | undefined): void {
  if (violation === undefined) return;
  throw new DomainError(violation.code, violation.message, { field: violationField(property, violation) });
}
