import {
  type CustomFieldDefinition,
  findValueViolation,
  jsonBytes,
  MAX_VALUES_BYTES,
  violationField,
} from '@tocsin/schemas';
import { DomainError, invalidRequest, invalidState, jsonEqual } from '@tocsin/http';
import { getValue } from '../../incidents/domain/incident.ts';
import type { Fields } from '../../replicas/domain/fields.ts';

/** A field and its new value on an incident; null unsets it. */
export interface FieldValue {
  field: CustomFieldDefinition;
  value: unknown;
}

/** A value of a request; it gives either the field's ID or its slug. */
export interface ValueInput {
  field_id?: number | undefined;
  slug?: string | undefined;
  value?: unknown;
}

/**
 * Returns the values of a new incident: the given ones, and defaults for the other fields (contract: Custom fields).
 * @param options.required whether values must be given that a field requires on creation
 * @throws DomainError `invalid_request` or `unknown_field` naming the property
 */
export function initialValues(
  fields: Fields,
  inputs: readonly ValueInput[],
  { required = true }: { required?: boolean } = {},
): FieldValue[] {
  const values = inputs.map(({ field_id: id, value }, index): FieldValue => {
    const at = `custom_field_values.${index}`;
    const field = fields.find(id ?? 0);
    if (field?.archived_at !== null) throw invalidRequest(`${at}.field_id`, 'Must be an active custom field');
    checkRequired({ field, value }, { at: `${at}.value` });
    return { field, value };
  });
  checkOnce(values, (index) => `custom_field_values.${index}.field_id`);

  const named = new Map(values.map(({ field, value }) => [field.id, value]));
  for (const field of fields.all) {
    if (field.archived_at !== null) continue;
    if (required && field.required_on_creation && (named.get(field.id) ?? null) === null) {
      throw invalidRequest('custom_field_values', `A value of the field ${field.slug} is required`);
    }
    if (!named.has(field.id) && field.default_value !== undefined) values.push({ field, value: field.default_value });
  }
  return values.filter(({ value }) => value !== null);
}

/** The values of an incident by the slugs of their fields. */
type StoredValues = Readonly<Record<string, unknown>>;

/**
 * Validates the changes of a request (contract: Custom fields). What is stored may be written again.
 * @throws DomainError `invalid_request` or `unknown_field` naming the property; `invalid_resource_state` for an archived field
 */
export function valueChanges(fields: Fields, given: readonly ValueInput[], stored: StoredValues): FieldValue[] {
  const key = (index: number) => (given[index]?.slug === undefined ? 'field_id' : 'slug');
  const changes = given.map(({ field_id: id, slug, value }, index): FieldValue => {
    const field = slug === undefined ? fields.find(id ?? 0) : fields.findBySlug(slug);
    if (field === undefined) throw invalidRequest(`values.${index}.${key(index)}`, 'Must be an existing custom field');
    checkActive(field);
    checkRequired({ field, value }, { at: `values.${index}.value`, stored });
    return { field, value };
  });
  checkOnce(changes, (index) => `values.${index}.${key(index)}`);
  return changes;
}

/** @throws DomainError `invalid_resource_state` for an archived field; `invalid_request` for a required field */
export function unsetChange(field: CustomFieldDefinition, stored: StoredValues): FieldValue {
  checkActive(field);
  const change = { field, value: null };
  checkRequired(change, { at: 'fieldId', stored });
  return change;
}

/** Returns the values by slug after the changes. */
export function applyChanges(
  values: Readonly<Record<string, unknown>>,
  changes: readonly FieldValue[],
): Record<string, unknown> {
  const changed = Object.entries(values).concat(changes.map(({ field, value }) => [field.slug, value]));
  return Object.fromEntries(new Map(changed).entries().filter(([, value]) => value !== null));
}

/** Whether a change differs from the current value; compares JSON, because values are stored as JSON. */
export const isChange = (values: Readonly<Record<string, unknown>>, { field, value }: FieldValue) =>
  !jsonEqual(getValue(values, field.slug), value);

/**
 * Checks the size of all values of an incident. Values that were stored before the limit may stay.
 * @throws DomainError `invalid_request` naming the property of the request if a change makes them larger than the limit
 */
export function checkTotalSize(
  after: Readonly<Record<string, unknown>>,
  { before, property }: { before: Readonly<Record<string, unknown>>; property: string },
): void {
  const bytes = totalBytes(after);
  if (bytes > MAX_VALUES_BYTES && bytes > totalBytes(before)) {
    throw invalidRequest(
      property,
      `Must be at most ${MAX_VALUES_BYTES} bytes of compact JSON, together with the incident's other values`,
    );
  }
}

const totalBytes = (values: Readonly<Record<string, unknown>>) =>
  Object.values(values).reduce<number>((sum, value) => sum + jsonBytes(value), 0);

function checkActive({ slug, archived_at }: CustomFieldDefinition): void {
  if (archived_at !== null) throw invalidState(`The custom field ${slug} is archived`);
}

interface CheckContext {
  /** The property of the request. */
  at: string;
  /** What the incident has: the value itself may stay, and so may its elements. */
  stored?: StoredValues;
}

/** @throws DomainError `invalid_request` for a null that unsets a required field; as `checkValue` */
function checkRequired(change: FieldValue, context: CheckContext): void {
  const { field, value } = change;
  if (value === null && field.required && (context.stored === undefined || isChange(context.stored, change))) {
    throw invalidRequest(context.at, `The field ${field.slug} is required`);
  }
  checkValue(change, context);
}

/** Null is valid. @throws DomainError `invalid_request` or `unknown_field` naming the property */
export function checkValue(change: FieldValue, { at, stored = {} }: CheckContext): void {
  const { field, value } = change;
  if (value === null || !isChange(stored, change)) return;
  const violation = findValueViolation(field, value, getValue(stored, field.slug));
  if (violation !== undefined)
    throw new DomainError(violation.code, violation.message, { field: violationField(at, violation) });
}

function checkOnce(values: readonly FieldValue[], at: (index: number) => string): void {
  const seen = new Set<number>();
  for (const [index, { field }] of values.entries()) {
    if (seen.has(field.id)) throw invalidRequest(at(index), 'Must not repeat a field');
    seen.add(field.id);
  }
}
