import type { CustomFieldDefinition, FieldConfig, FieldType } from './custom-field-definition.ts';
import { isCalendarDay, parseTimestamp } from './timestamp.ts';

/** Why a value or a config is refused; `path` is dotted and leads from it to the fault, empty for the whole. */
export interface Fault {
  code: 'invalid_request' | 'unknown_field';
  path: string;
  message: string;
}

/** A fault's place in the property that holds the faulty value: `value`, `value.amount`. */
export const faultField = (property: string, { path }: Fault) => (path === '' ? property : `${property}.${path}`);

const fault = (path: string, message: string): Fault => ({ code: 'invalid_request', path, message });

const CONFIG_KEYS: Readonly<Record<FieldType, readonly (keyof FieldConfig)[]>> = {
  string: ['max_length'],
  number: ['min', 'max', 'precision'],
  boolean: [],
  date: [],
  time: [],
  datetime: [],
  monetary: ['min', 'max', 'precision', 'currency', 'currencies'],
  json: [],
  select: ['options', 'allow_custom'],
  multi_select: ['options', 'allow_custom'],
};

/**
 * What is wrong with a type's config, whose members are each well-formed already (`fieldConfig`): a key that the type
 * does not take, or keys that contradict each other (contract: Custom fields).
 */
export function findConfigFault(fieldType: FieldType, config: FieldConfig = {}): Fault | undefined {
  const foreign = Object.keys(config).find((key) => !CONFIG_KEYS[fieldType].some((taken) => taken === key));
  if (foreign !== undefined) {
    return { code: 'unknown_field', path: foreign, message: `A field of type ${fieldType} does not take this option` };
  }
  const { min, max, currency, currencies, options, allow_custom } = config;
  if (min !== undefined && max !== undefined && min > max) return fault('max', `Must be at least min, ${min}`);
  if (currency !== undefined && currencies !== undefined)
    return fault('currencies', 'Give currency or currencies, not both');
  if (CONFIG_KEYS[fieldType].includes('options') && options === undefined && allow_custom !== true) {
    return fault('options', 'Give at least one option, or allow custom values');
  }
  return findRepeated('options', optionValues(config)) ?? findRepeated('currencies', currencies ?? []);
}

/** The second of two equal values; in one pass, for a body has room for a hundred thousand of them. */
function findRepeated(path: string, values: readonly string[]): Fault | undefined {
  const seen = new Set<string>();
  const index = values.findIndex((value) => seen.size === seen.add(value).size);
  return index === -1 ? undefined : fault(path === '' ? String(index) : `${path}.${index}`, 'Is there twice');
}

/** The values of a select's options, in their order. */
export const optionValues = ({ options = [] }: FieldConfig): string[] =>
  options.map((option) => (typeof option === 'string' ? option : option.value));

type Rule = (value: unknown, config: FieldConfig) => Fault | undefined;

const text = (message: string, isRight: (text: string) => boolean): Rule => {
  return (value) => (typeof value === 'string' && isRight(value) ? undefined : fault('', message));
};

const RULES: Readonly<Record<FieldType, Rule>> = {
  string: (value, { max_length = Infinity }) => {
    if (typeof value !== 'string') return fault('', 'Must be a string');
    return [...value].length > max_length ? fault('', `Must be at most ${max_length} characters`) : undefined;
  },
  number: (value, config) => findNumberFault('', value, config),
  boolean: (value) => (typeof value === 'boolean' ? undefined : fault('', 'Must be true or false')),
  date: text('Must be a day of the calendar, YYYY-MM-DD', isDate),
  time: text('Must be a time of day, HH:MM or HH:MM:SS', (value) => /^([01]\d|2[0-3]):[0-5]\d(:[0-5]\d)?$/.test(value)),
  datetime: text('Must be an RFC 3339 timestamp with a time zone', (value) => parseTimestamp(value) !== undefined),
  monetary: findMonetaryFault,
  json: () => undefined,
  select: (value, config) => choiceRule(config)('', value),
  multi_select: (value, config) => {
    if (!Array.isArray(value)) return fault('', 'Must be an array of strings');
    const findChoiceFault = choiceRule(config);
    for (const [index, item] of value.entries()) {
      const wrong = findChoiceFault(String(index), item);
      if (wrong !== undefined) return wrong;
    }
    return findRepeated('', value as string[]);
  },
};

/**
 * What is wrong with a JSON value of a defined field (contract: Custom fields). A null that unsets a field is no value:
 * whoever takes it deals with it first.
 */
export function findValueFault(
  { field_type, config = {} }: Pick<CustomFieldDefinition, 'field_type' | 'config'>,
  value: unknown,
): Fault | undefined {
  return RULES[field_type](value, config);
}

function findNumberFault(path: string, value: unknown, { min, max, precision }: FieldConfig): Fault | undefined {
  if (typeof value !== 'number' || !Number.isFinite(value)) return fault(path, 'Must be a finite number');
  if (min !== undefined && value < min) return fault(path, `Must be at least ${min}`);
  if (max !== undefined && value > max) return fault(path, `Must be at most ${max}`);
  if (precision !== undefined && decimalsOf(value) > precision) {
    return fault(path, precision === 0 ? 'Must be a whole number' : `Must have at most ${precision} decimals`);
  }
  return undefined;
}

/** Counted on the shortest decimal text: arithmetic on a binary fraction such as 1.005 would find decimals nobody wrote. */
function decimalsOf(value: number): number {
  const [, fraction = '', exponent = '0'] = /^-?\d+(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value)) ?? [];
  return Math.max(0, fraction.length - Number(exponent));
}

function isDate(value: string): boolean {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(value) ?? [];
  return isCalendarDay(Number(year), Number(month), Number(day));
}

function findMonetaryFault(value: unknown, config: FieldConfig): Fault | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return fault('', 'Must be an object with amount and currency');
  }
  const { amount, currency, ...others } = value as Record<string, unknown>;
  const [other] = Object.keys(others);
  if (other !== undefined)
    return { code: 'unknown_field', path: other, message: 'Money has an amount and a currency only' };
  const wrongAmount = findNumberFault('amount', amount, config);
  if (wrongAmount !== undefined) return wrongAmount;
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return fault('currency', 'Must be a currency code of three capital letters');
  }
  const allowed = config.currency === undefined ? config.currencies : [config.currency];
  if (allowed === undefined || allowed.includes(currency)) return undefined;
  return fault('currency', "Must be one of the field's currencies");
}

function choiceRule(config: FieldConfig): (path: string, value: unknown) => Fault | undefined {
  const options = new Set(optionValues(config));
  return (path, value) => {
    if (typeof value !== 'string') return fault(path, 'Must be a string');
    if (config.allow_custom === true || options.has(value)) return undefined;
    return fault(path, "Must be one of the field's options");
  };
}
