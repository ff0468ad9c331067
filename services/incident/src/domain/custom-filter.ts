import {
  type CustomFieldDefinition,
  faultField,
  type FieldType,
  findValueFault,
  parseTimestamp,
} from '@tocsin/contracts';
import { canonicalJson, checkStorable, DomainError, invalid, validate } from '@tocsin/http';
import { z } from 'zod';
import type { Fields } from './fields.ts';
import { fold } from './fold.ts';

/** What an operator compares with: any of some values, exactly one, or a lowest and a highest. */
type Arity = 'any' | 'one' | 'range';

const COMPARED = { eq: 'one', gt: 'one', lt: 'one', gte: 'one', lte: 'one', between: 'range' } as const;
const DATED = { is: 'any', before: 'one', after: 'one', between: 'range', gte: 'one', lte: 'one' } as const;

/** The operators of each type of field (contract: Incident lists). */
const OPERATORS = {
  string: { is: 'any', is_not: 'any', contains: 'one', starts_with: 'one' },
  select: { is: 'any', is_not: 'any' },
  boolean: { is: 'any' },
  number: COMPARED,
  monetary: COMPARED,
  date: DATED,
  datetime: DATED,
  time: { is: 'any', before: 'one', after: 'one' },
  multi_select: { includes_any: 'any', includes_all: 'any', excludes: 'any' },
  json: {},
} as const satisfies Record<FieldType, Record<string, Arity>>;

export type Operator = { [Type in FieldType]: keyof (typeof OPERATORS)[Type] }[FieldType];

export interface Money {
  amount: number;
  currency: string;
}

export type Operand = string | number | boolean | Money;

/** A condition on the values of one field, in the one form that all its spellings have. */
export interface CustomPredicate {
  fieldId: number;
  fieldType: FieldType;
  operator: Operator;
  /** Several are alternatives, sorted; of `between` they are the lowest and the highest. */
  operands: readonly Operand[];
}

const NAMES = [...new Set(Object.values(OPERATORS).flatMap((operators) => Object.keys(operators)))] as Operator[];

const items = z.object({
  custom_filter: z.array(z.strictObject({ slug: z.string(), operator: z.enum(NAMES), value: z.unknown() })),
});

/**
 * Reads the items of `custom_filter`, each the text of a JSON object.
 * @throws DomainError `invalid_request` or `unknown_field` naming the item by its place: `custom_filter.0.operator`
 */
export function customPredicates(texts: readonly string[], fields: Fields): CustomPredicate[] {
  const given = { custom_filter: texts.map(parseItem) };
  checkStorable(given);
  const predicates = validate(items, given).custom_filter.map((item, index) => {
    const at = `custom_filter.${index}`;
    const field = fields.findBySlug(item.slug);
    if (field?.archived_at !== null) throw invalid(`${at}.slug`, 'Must be the slug of an active custom field');
    return predicate(field, item, at);
  });
  const byText = new Map(predicates.map((each) => [canonicalJson(each), each]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}

function parseItem(text: string, index: number): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(`custom_filter.${index}`, 'Must be a JSON object with slug, operator and value');
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
    const known = Object.keys(operators).join(', ');
    throw invalid(`${at}.operator`, `A ${field.field_type} field takes ${known === '' ? 'no filter' : known}`);
  }
  const isList = Array.isArray(item.value);
  const values: unknown[] = Array.isArray(item.value) ? item.value : [item.value];
  if (arity === 'one' && isList) throw invalid(`${at}.value`, 'Must be one value');
  if (arity === 'any' && values.length === 0) throw invalid(`${at}.value`, 'Must hold at least one value');
  if (arity === 'range' && (!isList || values.length !== 2)) {
    throw invalid(`${at}.value`, 'Must be an array of the lowest and the highest value');
  }
  const operands = values.map((value, index) =>
    operand(field.field_type, value, isList ? `${at}.value.${index}` : `${at}.value`),
  );
  const [low, high] = operands;
  if (arity === 'range' && isMoney(low) && isMoney(high) && low.currency !== high.currency) {
    throw invalid(`${at}.value.1.currency`, `Must be ${low.currency}, as the lowest amount is`);
  }
  return {
    fieldId: field.id,
    fieldType: field.field_type,
    operator: item.operator,
    operands: arity === 'any' ? distinct(operands) : operands,
  };
}

const isMoney = (value: Operand | undefined): value is Money => typeof value === 'object';

/** What a field's config would refuse may still be asked for. */
const JUDGED_AS: Partial<Record<FieldType, FieldType>> = { select: 'string', multi_select: 'string' };

function operand(type: FieldType, value: unknown, at: string): Operand {
  const fault = findValueFault({ field_type: JUDGED_AS[type] ?? type }, value);
  if (fault !== undefined) throw new DomainError(fault.code, fault.message, { field: faultField(at, fault) });
  if (type === 'string' || type === 'select') return fold(value as string);
  if (type === 'datetime') return parseTimestamp(value as string) as string;
  if (type === 'time') return (value as string).padEnd('HH:MM:SS'.length, ':00');
  return value as Operand;
}

function distinct(operands: readonly Operand[]): Operand[] {
  const byText = new Map(operands.map((each) => [canonicalJson(each), each]));
  return [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, each]) => each);
}
