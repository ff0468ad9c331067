import { findConfigViolation, findValueViolation, type Violation, violationField } from '@tocsin/contracts';
import { DomainError, invalidRequest } from '@tocsin/http';
import type { NewField } from './field.ts';

type CheckedProperties = Pick<
  NewField,
  'fieldType' | 'config' | 'defaultValue' | 'showOnCreation' | 'requiredOnCreation' | 'category' | 'externalSource'
>;

/**
 * Checks that the properties of a new or changed definition are consistent with each other (contract: Custom fields).
 * @throws DomainError `unknown_field` for a config key that the type does not have; `invalid_request` naming the property
 */
export function checkField(field: CheckedProperties): void {
  const config = field.config ?? undefined;
  throwViolation('config', findConfigViolation(field.fieldType, config));
  if (field.defaultValue !== null) {
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

function throwViolation(property: string, violation: Violation | undefined): void {
  if (violation === undefined) return;
  throw new DomainError(violation.code, violation.message, { field: violationField(property, violation) });
}
