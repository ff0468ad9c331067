import { type Fault, faultField, findConfigFault, findValueFault } from '@tocsin/contracts';
import { DomainError, invalid } from '@tocsin/http';
import type { NewField } from './field.ts';

type Judged = Pick<
  NewField,
  'fieldType' | 'config' | 'defaultValue' | 'showOnCreation' | 'requiredOnCreation' | 'category' | 'externalSource'
>;

/**
 * Checks what must agree within one definition, whether it is new or changed (contract: Custom fields).
 * @throws DomainError `unknown_field` for a config key that the type does not take; `invalid_request` naming the property
 */
export function checkField(field: Judged): void {
  const config = field.config ?? undefined;
  refuse('config', findConfigFault(field.fieldType, config));
  if (field.defaultValue !== null) {
    refuse('default_value', findValueFault({ field_type: field.fieldType, config }, field.defaultValue));
  }
  if (field.requiredOnCreation && !field.showOnCreation) {
    throw invalid(
      'required_on_creation',
      'A field that creation requires must be shown there: set show_on_creation too',
    );
  }
  if (field.category === 'external' && field.externalSource === null) {
    throw invalid('external_source', 'A field of the category external must name its source');
  }
  if (field.category !== 'external' && field.externalSource !== null) {
    throw invalid('external_source', 'Only a field of the category external has a source');
  }
}

function refuse(property: string, fault: Fault | undefined): void {
  if (fault !== undefined) throw new DomainError(fault.code, fault.message, { field: faultField(property, fault) });
}
