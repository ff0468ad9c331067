import { type CustomFieldDefinition, faultField, findValueFault } from '@tocsin/contracts';
import { canonicalJson, DomainError, invalid, wrongState } from '@tocsin/http';
import type { Fields } from './fields.ts';

/** A field and what an incident is to hold in it; null: nothing. */
export interface FieldValue {
  field: CustomFieldDefinition;
  value: unknown;
}

/** A value as a request names it: by the field's ID or its slug, of which it gives one. */
export interface GivenValue {
  field_id?: number | undefined;
  slug?: string | undefined;
  value?: unknown;
}

/**
 * The values of a new incident: those given, and the defaults of the fields that are not named (contract: Custom fields).
 * @throws DomainError `invalid_request` or `unknown_field` naming the property
 */
export function valuesAtCreation(fields: Fields, given: readonly GivenValue[]): FieldValue[] {
  const values = given.map(({ field_id: id, value }, index): FieldValue => {
    const at = `custom_field_values.${index}`;
    const field = fields.find(id ?? 0);
    if (field?.archived_at !== null) throw invalid(`${at}.field_id`, 'Must be an active custom field');
    checkValue(field, value, `${at}.value`);
    return { field, value };
  });
  checkOnce(values, (index) => `custom_field_values.${index}.field_id`);

  const named = new Map(values.map(({ field, value }) => [field.id, value]));
  for (const field of fields.all) {
    if (field.archived_at !== null) continue;
    if (field.required_on_creation && (named.get(field.id) ?? null) === null) {
      throw invalid('custom_field_values', `A value of the field ${field.slug} is required`);
    }
    if (!named.has(field.id) && field.default_value !== undefined) values.push({ field, value: field.default_value });
  }
  return values.filter(({ value }) => value !== null);
}

/**
 * The changes that a request asks for, all of them checked (contract: Custom fields).
 * @throws DomainError `invalid_request` or `unknown_field` naming the property; `invalid_resource_state` for an archived field
 */
export function valueChanges(fields: Fields, given: readonly GivenValue[]): FieldValue[] {
  const key = (index: number) => (given[index]?.slug === undefined ? 'field_id' : 'slug');
  const changes = given.map(({ field_id: id, slug, value }, index): FieldValue => {
    const field = slug === undefined ? fields.find(id ?? 0) : fields.findBySlug(slug);
    if (field === undefined) throw invalid(`values.${index}.${key(index)}`, 'There is no such custom field');
    checkActive(field);
    checkValue(field, value, `values.${index}.value`);
    return { field, value };
  });
  checkOnce(changes, (index) => `values.${index}.${key(index)}`);
  return changes;
}

/** @throws DomainError `invalid_resource_state` for an archived field; `invalid_request` for one that must keep its value */
export function unsetting(field: CustomFieldDefinition): FieldValue {
  checkActive(field);
  checkValue(field, null, 'fieldId');
  return { field, value: null };
}

/** Values by slug with some of them changed. */
export function withValues(
  values: Readonly<Record<string, unknown>>,
  changes: readonly FieldValue[],
): Record<string, unknown> {
  const changed = Object.entries(values).concat(changes.map(({ field, value }) => [field.slug, value]));
  return Object.fromEntries(new Map(changed).entries().filter(([, value]) => value !== null));
}

/** What the values by slug hold, null for nothing; a slug may be what every object has, such as `constructor`. */
export const valueIn = (values: Readonly<Record<string, unknown>>, slug: string): unknown =>
  Object.hasOwn(values, slug) ? values[slug] : null;

/** Whether the values by slug hold something else; compared as JSON, which is what they are everywhere but here. */
export const isChange = (values: Readonly<Record<string, unknown>>, { field, value }: FieldValue) =>
  canonicalJson(valueIn(values, field.slug)) !== canonicalJson(value);

function checkActive({ slug, archived_at }: CustomFieldDefinition): void {
  if (archived_at !== null) throw wrongState(`The custom field ${slug} is archived`);
}

function checkValue(field: CustomFieldDefinition, value: unknown, at: string): void {
  if (value === null) {
    if (field.required) throw invalid(at, `The field ${field.slug} must keep a value`);
    return;
  }
  const fault = findValueFault(field, value);
  if (fault !== undefined) throw new DomainError(fault.code, fault.message, { field: faultField(at, fault) });
}

function checkOnce(values: readonly FieldValue[], at: (index: number) => string): void {
  const seen = new Set<number>();
  for (const [index, { field }] of values.entries()) {
    if (seen.has(field.id)) throw invalid(at(index), 'The field is named twice');
    seen.add(field.id);
  }
}
