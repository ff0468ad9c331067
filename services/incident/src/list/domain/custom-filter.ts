import {
  type CustomFieldDefinition,
  violationField,
  type FieldType,
  findValueViolation,
  isLongerThan,
  MAX_KEY,
  MAX_OPERANDS,
  MAX_SEARCHED_TEXT,
  boundedText,
  parseTimestamp,
  fold,
} from '@tocsin/schemas';
import { canonicalJson, DomainError, invalidRequest, parseJson, validate } from '@tocsin/http';
import { z } from 'zod';
import type { Fields } from '../../replicas/domain/fields.ts';

/** The operands of an operator: one or several alternatives, exactly one, or the two ends of a range. */
type Arity = 'any' | 'one' | 'range';

const COMPARED = { eq: 'one', gt: 'one', lt: 'one', gte: 'one', lte: 'one', between: 'range' } as const;
/** Of a value of any type that filters can ask for. */
const PRESENT = { has_value: 'one' } as const;
const DATED = { is: 'any', before: 'one', after: 'one', between: 'range', gte: 'one', lte: 'one' } as const;

/** The operators of each type of field (contract: Incident lists). */
const OPERATORS = {
  string: { ...PRESENT, is: 'any', is_not: 'any', contains: 'one', starts_with: 'one' },
  select: { ...PRESENT, is: 'any', is_not: 'any' },
  boolean: { ...PRESENT, is: 'any' },
  number: { ...PRESENT, ...COMPARED },
  monetary: { ...PRESENT, ...COMPARED },
  date: { ...PRESENT, ...DATED },
  datetime: { ...PRESENT, ...DATED },
  time: { ...PRESENT, is: 'any', before: 'one', after: 'one' },
  multi_select: { ...PRESENT, includes_any: 'any', includes_all: 'any', excludes: 'any' },
  json: {},
} as const satisfies Record<FieldType, Record<string, Arity>>;

type Operator = { [Type in FieldType]: keyof (typeof OPERATORS)[Type] }[FieldType];

export interface Money {
  amount: number;
  currency: string;
}

export type Operand = string | number | boolean | Money;

/** A condition on the values of one field, in canonical form: the same for every spelling of the same condition. */
export interface CustomPredicate {
  fieldId: number;
  fieldType: FieldType;
  operator: Operator;
  /** Alternatives, sorted; for `between` the lowest and the highest value. */
  operands: readonly Operand[];
}

const NAMES = [...new Set(Object.values(OPERATORS).flatMap((operators) => Object.keys(operators)))] as Operator[];

const items = z.object({
  custom_filter: z.array(z.strictObject({ slug: boundedText(MAX_KEY), operator: z.enum(NAMES), value: z.unknown() })),
});

/**
 * Parses the items of `custom_filter`, each a JSON object as text.
 * @throws DomainError `invalid_request` or `unknown_field` naming the item by its index: `custom_filter.0.operator`
 */
export function customPredicates(texts: readonly string[], fields: Fields): CustomPredicate[] {
  const predicates = validate(items, { custom_filter: texts.map(parseItem) }).custom_filter.map((item, index) => {
    const at = `custom_filter.${index}`;
    const field = fields.findBySlug(item.slug);
    if (field?.archived_at !== null) throw invalidRequest(`${at}.slug`, 'Must be the slug of an active custom field');
    return predicate(field, item, at);
  });
  const byText = new Map(predicates.map((each) => [canonicalJson(each), each]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

/** An item with the most operands weighs less. */
const MAX_WEIGHT = 4_000;

function parseItem(text: string, index: number): unknown {
  const at = `custom_filter.${index}`;
  try {
    return parseJson(Buffer.from(text), { complexity: MAX_WEIGHT });
  } catch (error) {
    const { field, message } = error as DomainError;
    if (field !== undefined) throw invalidRequest(`${at}.${field}`, message);
    throw invalidRequest(at, 'Must be a JSON object with slug, operator and value');
  }
}

function predicate(
  field: CustomFieldDefinition,
  item: { operator: Operator; value?: unknown },
  at: string,
): CustomPredicate {
  const operators: Partial<Record<Operator, Arity>> = OPERATORS[field.field_type];
  const arity = operators[item.operator];
  if (arity === undefined) {
    const allowed = Object.keys(operators).join(', ');
    throw invalidRequest(
      `${at}.operator`,
      allowed === ''
        ? `A field of type ${field.field_type} has no filters`
        : `Must be one of ${allowed} for a field of type ${field.field_type}`,
    );
  }
  const isList = Array.isArray(item.value);
  const values: unknown[] = Array.isArray(item.value) ? item.value : [item.value];
  if (values.length > MAX_OPERANDS) throw invalidRequest(`${at}.value`, `Must have at most ${MAX_OPERANDS} items`);
  if (arity === 'one' && isList) throw invalidRequest(`${at}.value`, 'Must be one value');
  if (arity === 'any' && values.length === 0) throw invalidRequest(`${at}.value`, 'Must have at least one value');
  if (arity === 'range' && (!isList || values.length !== 2)) {
    throw invalidRequest(`${at}.value`, 'Must be an array of the lowest and the highest value');
  }
  const type = item.operator === 'has_value' ? 'boolean' : field.field_type;
  const operands = values.map((value, index) => operand(type, value, isList ? `${at}.value.${index}` : `${at}.value`));
  const [low, high] = operands;
  if (arity === 'range' && isMoney(low) && isMoney(high) && low.currency !== high.currency) {
    throw invalidRequest(`${at}.value.1.currency`, `Must be ${low.currency}, the currency of the lowest amount`);
  }
  return {
    fieldId: field.id,
    fieldType: field.field_type,
    operator: item.operator,
    operands: arity === 'any' ? distinct(operands) : operands,
  };
}

const isMoney = (value: Operand | undefined): value is Money => typeof value === 'object';

/** Filters may name options that the field's definition does not have: incidents may still have them. */
const VALIDATED_AS: Partial<Record<FieldType, FieldType>> = { select: 'string', multi_select: 'string' };

function operand(type: FieldType, value: unknown, at: string): Operand {
  const violation = findValueViolation({ field_type: VALIDATED_AS[type] ?? type }, value);
  if (violation !== undefined) {
    throw new DomainError(violation.code, violation.message, { field: violationField(at, violation) });
  }
  if (typeof value === 'string' && isLongerThan(value, MAX_SEARCHED_TEXT)) {
    throw invalidRequest(at, `Must be at most ${MAX_SEARCHED_TEXT} characters`);
  }
  if (type === 'string' || type === 'select' || type === 'multi_select') return fold(value as string);
  if (type === 'datetime') return parseTimestamp(value as string) as string;
  if (type === 'time') return (value as string).padEnd('HH:MM:SS'.length, ':00');
  return value as Operand;
}

function distinct(operands: readonly Operand[]): Operand[] {
  const byText = new Map(operands.map((each) => [canonicalJson(each), each]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
